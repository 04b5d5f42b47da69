#include "runtime/node_host.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/unix_socket.h"
#include "runtime/testing/testing_protocol.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Testing = TestingProtocol;

constexpr absl::Duration kLong = absl::Seconds(120);
constexpr char kFellOut[] = "n1 fell out of the job";

void Complete(const WorkerCall& call, Actions& actions) {
  std::visit(
      [&actions](const auto& concrete) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(concrete)>, WorkerDetach>) {
          Testing::Add(actions, CompleteRequest{concrete.request, absl::OkStatus(), KeyId(), Round(1)});
        }
      },
      call);
}

template <typename Call>
bool Is(const WorkerCall& call) {
  return std::holds_alternative<Call>(call);
}

// A node whose first core falls out of its job at a call that `falls_out_at` names.
class NodeHostTest : public testing::Test {
 protected:
  void Start(std::function<bool(const WorkerCall&)> falls_out_at) {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    ASSERT_NE(mkdtemp(directory.data()), nullptr);
    socket_ = "unix:" + directory + "/n1";
    const auto log = [this](LogLevel, absl::string_view line) {
      std::lock_guard<std::mutex> lock(mutex_);
      lines_.emplace_back(line);
    };
    auto host = NodeHost::Start({.name = "n1", .worker_socket = socket_, .log = log},
                                [this, falls_out_at](const ProtocolHost& bound) {
                                  std::lock_guard<std::mutex> lock(mutex_);
                                  addresses_.push_back(bound.bound_address());
                                  auto core = std::make_unique<Testing>();
                                  const bool is_first = addresses_.size() == 1;
                                  core->on_call = [is_first, falls_out_at](WorkerCall& call, Actions& actions) {
                                    if (!is_first || !falls_out_at(call)) return Complete(call, actions);
                                    Testing::Add(actions, Stop{absl::AbortedError(kFellOut)});
                                  };
                                  return core;
                                });
    ASSERT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  absl::StatusOr<std::unique_ptr<Session>> Open() { return Session::Open({.node = socket_, .open_timeout = kLong}); }

  std::string socket_;
  std::mutex mutex_;
  std::vector<std::string> lines_;      // guarded by mutex_
  std::vector<std::string> addresses_;  // guarded by mutex_
  std::unique_ptr<NodeHost> host_;
};

TEST_F(NodeHostTest, ANodeThatFellOutJoinsAgainWhereItWas) {
  Start(Is<WorkerBarrier>);
  {
    const auto session = Open();
    ASSERT_TRUE(session.ok()) << session.status();
    const absl::Status ended = (*session)->Barrier().Wait(kLong);
    EXPECT_EQ(ended.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(ended.message()), AllOf(HasSubstr(kFellOut), HasSubstr("open a new session")));
    const absl::Status later = (*session)->Barrier().Wait(kLong);
    EXPECT_EQ(later.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(later.message()), HasSubstr("open a new session"));
  }
  const auto session = Open();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
  EXPECT_TRUE(host_->Stop().ok());
  ASSERT_EQ(addresses_.size(), 2u);
  EXPECT_EQ(addresses_[0], addresses_[1]);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], HasSubstr(kFellOut));
}

// A store of nothing.
class ForgetfulStore : public RecordStore {
 public:
  absl::StatusOr<StoredRecords> Open() override { return StoredRecords(); }
  absl::Status Append(const std::vector<std::string>&) override { return absl::OkStatus(); }
  absl::Status Replace(const std::string&) override { return absl::OkStatus(); }
};

TEST_F(NodeHostTest, AddressesThatAnotherProcessHoldsAreTriedForAgain) {
  std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/n1";
  std::vector<std::string> lines;
  FileDescriptor other;  // another process, which is faster
  const auto log = [&](LogLevel, absl::string_view line) {
    lines.emplace_back(line);
    if (absl::StrContains(line, "joins again")) {
      unlink(path.c_str());
      other = *ListenOnUnix(path);
    }
    if (absl::StrContains(line, "tries again")) other.Close();
  };
  int starts = 0;
  auto host = NodeHost::Start(
      {.name = "n1", .worker_socket = "unix:" + path, .log = log},
      [&](const ProtocolHost&) {
        auto core = std::make_unique<Testing>();
        const bool is_first = ++starts == 1;
        core->on_started = [is_first](Timestamp, Actions& actions) {
          Testing::Add(actions, Stop{is_first ? absl::AbortedError(kFellOut) : absl::OkStatus()});
        };
        return core;
      },
      std::make_unique<ForgetfulStore>());
  ASSERT_TRUE(host.ok()) << host.status();
  const absl::Status ended = (*host)->Join();
  EXPECT_TRUE(ended.ok()) << ended;
  EXPECT_EQ(starts, 2);
  EXPECT_THAT(lines,
              ::testing::ElementsAre(HasSubstr("joins again as a new start"),
                                     HasSubstr("the records of this node end here"), HasSubstr("tries again for 1m")));
}

TEST_F(NodeHostTest, OpenWaitsForANodeThatJoinsAgain) {
  Start(Is<WorkerAttach>);
  const auto session = Open();
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
}

TEST_F(NodeHostTest, SoDoesASessionWithinTheProcess) {
  Start(Is<WorkerAttach>);
  const auto session = host_->OpenSession(0, kLong);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
}

TEST_F(NodeHostTest, OpenEndsWithItsTimeoutWhileANodeFallsOutAgainAndAgain) {
  auto host = NodeHost::Start({.name = "n1"}, [](const ProtocolHost&) {
    auto core = std::make_unique<Testing>();
    core->on_started = [](Timestamp, Actions& actions) { Testing::Add(actions, Stop{absl::AbortedError(kFellOut)}); };
    return core;
  });
  ASSERT_TRUE(host.ok()) << host.status();
  const auto session = (*host)->OpenSession(0, absl::Milliseconds(100));
  EXPECT_FALSE(session.ok());
  EXPECT_TRUE((*host)->Stop().ok());
}

TEST_F(NodeHostTest, AnotherErrorEndsTheNode) {
  auto host = NodeHost::Start({.name = "n1"}, [](const ProtocolHost&) {
    auto core = std::make_unique<Testing>();
    core->on_started = [](Timestamp, Actions& actions) {
      Testing::Add(actions, Stop{absl::FailedPreconditionError("refused")});
    };
    return core;
  });
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ((*host)->Join(), absl::FailedPreconditionError("refused"));
  EXPECT_EQ((*host)->OpenSession(0, kLong).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
