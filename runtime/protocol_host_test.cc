#include "runtime/protocol_host.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/testing/fake_leadership.h"
#include "runtime/records/directory_record_store.h"
#include "runtime/testing/testing_protocol.h"

namespace banyan {
namespace {

using Testing = TestingProtocol;

std::unique_ptr<ProtocolHost> Host(ProtocolHostOptions options = {},
                                   std::unique_ptr<RecordStore> record_store = nullptr) {
  auto host = ProtocolHost::Create(std::move(options), std::move(record_store));
  EXPECT_TRUE(host.ok()) << host.status();
  return *std::move(host);
}

class Doubling : public Computation {
 public:
  explicit Doubling(int value) : value(value) {}
  void Run() override { value *= 2; }
  int64_t size_bytes() const override { return sizeof(value); }

  int value;
};

// Wants more memory than there is.
class Insatiable : public Computation {
 public:
  explicit Insatiable(int64_t size_bytes) : size_bytes_(size_bytes) {}
  void Run() override { throw std::bad_alloc(); }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  int64_t size_bytes_;
};

TEST(ProtocolHostTest, WithoutMemoryItEndsWithAnErrorThatSaysSo) {
  const auto run = [](std::function<void(Timestamp, Actions&)> on_started) {
    auto core = std::make_unique<Testing>();
    core->on_started = std::move(on_started);
    return Host()->Run(std::move(core));
  };
  std::vector<absl::Status> ends = {run([](Timestamp, Actions&) { throw std::bad_alloc(); })};
  for (const int64_t size_bytes : {int64_t{1}, int64_t{1} << 30}) {
    ends.push_back(run([size_bytes](Timestamp, Actions& actions) {
      Testing::Add(actions, StartComputation{ComputationId(3), std::make_unique<Insatiable>(size_bytes)});
    }));
  }
  for (const absl::Status& end : ends) {
    EXPECT_TRUE(absl::IsResourceExhausted(end)) << end;
    EXPECT_NE(end.message().find("no memory is left"), absl::string_view::npos) << end;
  }
}

TEST(ProtocolHostTest, FindsAFreePort) {
  auto first = Host();
  auto second = Host();
  EXPECT_NE(first->bound_port(), 0);
  EXPECT_NE(first->bound_port(), second->bound_port());
  EXPECT_EQ(first->bound_address(), "tcp://127.0.0.1:" + std::to_string(first->bound_port()));
}

TEST(ProtocolHostTest, AnAddressThatCannotBeBoundIsAnError) {
  auto taken = Host();
  for (const std::string& address :
       {taken->bound_address(), std::string("tcp://nowhere"), std::string(""), std::string("tcp://127.0.0.1:99999")}) {
    auto host = ProtocolHost::Create({.bind_address = address});
    ASSERT_FALSE(host.ok()) << address;
    EXPECT_NE(host.status().message().find("cannot listen on " + address), absl::string_view::npos) << host.status();
  }
  EXPECT_FALSE(ProtocolHost::Create({.compute_threads = 0}).ok());
  EXPECT_FALSE(ProtocolHost::Create({.worker_socket = "/no/scheme"}).ok());
}

TEST(ProtocolHostTest, ACoreWithoutDeadlinesCanBeWoken) {
  auto host = Host();
  auto core = std::make_unique<Testing>();
  std::thread other;
  core->on_started = [&](Timestamp, Actions&) { other = std::thread([&host] { host->Wake(); }); };
  core->on_deadline = [](Timestamp, Actions& actions) { Testing::Add(actions, Stop{absl::OkStatus()}); };
  EXPECT_TRUE(host->Run(std::move(core)).ok());
  other.join();
}

TEST(ProtocolHostTest, CarriesActionsOutInOrder) {
  std::vector<std::string> log;
  auto host = Host({.log = [&log](LogLevel, absl::string_view text) { log.emplace_back(text); }});
  auto core = std::make_unique<Testing>();
  core->on_started = [](Timestamp, Actions& actions) {
    Testing::Add(actions, LogLine{LogLevel::kInfo, "one"});
    Testing::Add(actions, StartComputation{ComputationId(3), std::make_unique<Doubling>(4)});
    Testing::Add(actions, LogLine{LogLevel::kInfo, "two"});
  };
  core->on_computed = [](ComputationFinished& finished, Actions& actions) {
    const int value = static_cast<Doubling&>(*finished.result).value;
    Testing::Add(actions, LogLine{LogLevel::kInfo, "computed " + std::to_string(value)});
    Testing::Add(actions, PersistRecord{RecordId(9), "bytes"});
  };
  core->on_persisted = [](RecordId record, Actions& actions) {
    Testing::Add(actions, LogLine{LogLevel::kInfo, "persisted " + std::to_string(record.value())});
    Testing::Add(actions, Stop{absl::UnavailableError("enough")});
  };
  EXPECT_EQ(host->Run(std::move(core)), absl::UnavailableError("enough"));
  EXPECT_EQ(log, (std::vector<std::string>{"one", "two", "computed 8", "persisted 9"}));
}

// Says on which thread it ran.
class Whereabouts : public Computation {
 public:
  explicit Whereabouts(int64_t size_bytes) : size_bytes_(size_bytes) {}
  void Run() override { ran_on = std::this_thread::get_id(); }
  int64_t size_bytes() const override { return size_bytes_; }

  std::thread::id ran_on;

 private:
  int64_t size_bytes_;
};

TEST(ProtocolHostTest, BriefComputationsWakeNoOtherThread) {
  auto host = Host({.brief_bytes = 1000});
  auto core = std::make_unique<Testing>();
  constexpr size_t kComputations = 100;
  core->on_started = [](Timestamp, Actions& actions) {
    for (uint64_t i = 0; i < kComputations; ++i) {
      Testing::Add(actions, StartComputation{ComputationId(i), std::make_unique<Whereabouts>(1000 + (i % 2))});
    }
  };
  std::vector<uint64_t> here;
  std::vector<uint64_t> elsewhere;
  core->on_computed = [&](ComputationFinished& finished, Actions& actions) {
    const bool is_here = static_cast<Whereabouts&>(*finished.result).ran_on == std::this_thread::get_id();
    (is_here ? here : elsewhere).push_back(finished.computation.value());
    if (here.size() + elsewhere.size() == kComputations) Testing::Add(actions, Stop{absl::OkStatus()});
  };
  EXPECT_TRUE(host->Run(std::move(core)).ok());
  ASSERT_EQ(here.size(), kComputations / 2);
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(here[i], 2 * i);
    EXPECT_EQ(elsewhere[i], (2 * i) + 1);
  }
}

TEST(ProtocolHostTest, DeadlinesFireWhenTheyAreDueAndNotBefore) {
  auto host = Host();
  auto core = std::make_unique<Testing>();
  Testing* const raw = core.get();
  std::vector<absl::Duration> late;
  core->on_started = [raw](Timestamp now, Actions&) { raw->deadline = now + absl::Milliseconds(20); };
  core->on_deadline = [raw, &late](Timestamp now, Actions& actions) {
    late.push_back(now - raw->deadline);
    raw->deadline = now + absl::Milliseconds(5);
    if (late.size() == 3) Testing::Add(actions, Stop{absl::OkStatus()});
  };
  EXPECT_TRUE(host->Run(std::move(core)).ok());
  for (absl::Duration by : late) EXPECT_GE(by, absl::ZeroDuration());
}

ProtocolHost* signalled_host = nullptr;

TEST(ProtocolHostTest, ASignalHandlerMayRequestTheStop) {
  auto host = Host();
  signalled_host = host.get();
  std::signal(SIGUSR1, [](int) { signalled_host->RequestStop(); });
  auto core = std::make_unique<Testing>();
  core->on_started = [](Timestamp, Actions&) { std::raise(SIGUSR1); };
  EXPECT_TRUE(host->Run(std::move(core)).ok());
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(ProtocolHostTest, ACoreThatDoesNotStopIsLeft) {
  auto host = Host({.stop_timeout = absl::Milliseconds(50)});
  auto core = std::make_unique<Testing>();
  core->on_stop = [](Actions&) {};
  host->RequestStop();
  EXPECT_EQ(host->Run(std::move(core)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ProtocolHostTest, RecordsComeBackInTheNextRun) {
  std::string directory = testing::TempDir() + "/host_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  for (uint64_t run = 0; run < 2; ++run) {
    auto host = Host({}, std::make_unique<DirectoryRecordStore>(directory));
    EXPECT_EQ(host->TakeRecords().tail.size(), run);
    EXPECT_EQ(host->TakeRecords(), StoredRecords());
    auto core = std::make_unique<Testing>();
    core->on_started = [](Timestamp, Actions& actions) { Testing::Add(actions, PersistRecord{RecordId(1), "term"}); };
    core->on_persisted = [](RecordId, Actions& actions) { Testing::Add(actions, Stop{absl::OkStatus()}); };
    EXPECT_TRUE(host->Run(std::move(core)).ok());
  }
}

TEST(ProtocolHostTest, StopsWhenItLeadsNoMore) {
  FakeLeadership leadership;
  auto host = Host({.leadership = &leadership});
  auto core = std::make_unique<Testing>();
  // Nothing else happens, so it is the end of the leadership that wakes it.
  core->on_started = [&leadership](Timestamp now, Actions&) { leadership.LeadUntil(now + absl::Milliseconds(20)); };
  EXPECT_EQ(host->Run(std::move(core)), leadership.WhyLost());
}

TEST(ProtocolHostTest, TakesNoStepWhenItLeadsNoMore) {
  FakeLeadership leadership;
  auto host = Host({.leadership = &leadership});
  auto core = std::make_unique<Testing>();
  bool has_gone_on = false;
  core->on_started = [&leadership](Timestamp, Actions& actions) {
    // As after a process that stood still in the middle.
    leadership.Lose();
    Testing::Add(actions, PersistRecord{RecordId(1), "term"});
  };
  core->on_persisted = [&has_gone_on](RecordId, Actions&) { has_gone_on = true; };
  EXPECT_EQ(host->Run(std::move(core)), leadership.WhyLost());
  EXPECT_FALSE(has_gone_on);
}

}  // namespace
}  // namespace banyan
