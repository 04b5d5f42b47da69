// Whatever arrives on any socket of a daemon, it neither dies nor does the job stop, and the sums stay exact.
#include <dirent.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "proto/wire.h"
#include "runtime/session/session.h"
#include "runtime/testing/zmtp_bytes.h"
#include "tests/hostile_messages.h"
#include "tests/hostile_peer.h"
#include "tests/job_fixture.h"
#include "tests/tcp_proxy.h"
#include "tests/test_training.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

// On all sockets together, each of one frame or more.
constexpr int64_t kMessages = 100000;

int CountOpenFiles(pid_t process) {
  DIR* const directory = opendir(absl::StrCat("/proc/", process, "/fd").c_str());
  int count = 0;
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

// Waits until the process has closed what it should not keep.
void ExpectFewOpenFiles(pid_t process, int most) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (CountOpenFiles(process) > most && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(20));
  EXPECT_LE(CountOpenFiles(process), most);
}

// A job that goes on while peers of one process or another do their worst.
class HostileTest : public testing::Test {
 protected:
  // The two neighbours of n2 reach it through a proxy, which records what they say.
  explicit HostileTest(bool has_keys = false)
      : job_(JobSpec{.more = "chunks: {max_elements: 5000}\n", .has_keys = has_keys}), proxy_(job_.PortOf(1)) {
    job_.StartScheduler();
    for (size_t node = 0; node < job_.nodes(); ++node) {
      job_.StartNode(
          node, node == 1 ? std::vector<std::string>{"--advertise", proxy_.address()} : std::vector<std::string>());
    }
    sessions_ = job_.OpenAll();
    training_ =
        std::make_unique<TestTraining>(Addresses(sessions_), std::vector<TestTraining::Tensor>{{"a", 1}, {"b", 20000}});
    training_->Init();
    training_->PushPullRound();
  }

  // Attacks on a thread of its own.
  template <typename Work>
  void Attack(Work work) {
    const uint64_t seed = ++attacks_;
    threads_.emplace_back([this, work, seed] {
      HostilePeer peer(HostileMessages("test", seed));
      work(peer);
      sent_ += peer.sent();
      --running_;
    });
    ++running_;
  }

  // Trains until the attacks are over, and a little longer.
  void Train() {
    int rounds = 0;
    for (int more = 5; more > 0 && !HasFatalFailure(); more -= running_ == 0 ? 1 : 0, ++rounds) {
      training_->PushPullRound();
    }
    for (std::thread& thread : threads_) thread.join();
    RecordProperty("rounds", rounds);
  }

  // More than so many by all, and by the first node, which reports its own from time to time.
  void ExpectRejections(int64_t by_all, int64_t by_first) {
    const absl::Time deadline = absl::Now() + kPatience;
    int64_t all = 0;
    int64_t first = 0;
    do {
      const YAML::Node status = YAML::Load(job_.StatusJson());
      all = status["rejected_messages"].as<int64_t>();
      first = status["nodes"][0]["rejected_messages"].as<int64_t>(0);
    } while ((all <= by_all || first <= by_first) && absl::Now() < deadline);
    EXPECT_GT(all, by_all);
    EXPECT_GT(first, by_first);
  }

  void ExpectAllRun() {
    EXPECT_TRUE(job_.scheduler().running());
    for (size_t node = 0; node < job_.nodes(); ++node) EXPECT_TRUE(job_.node(node).running());
    job_.StopAll();
  }

  JobFixture job_;
  TcpProxy proxy_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unique_ptr<TestTraining> training_;
  std::atomic<int64_t> sent_ = 0;
  std::atomic<int> running_ = 0;
  uint64_t attacks_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(HostileTest, FloodsOnEverySocketDoNotDisturbTheJob) {
  const int files_before = CountOpenFiles(job_.node(0).pid());
  const int scheduler_files_before = CountOpenFiles(job_.scheduler().pid());
  Attack([this](HostilePeer& peer) { peer.FloodRouter(job_.scheduler_port(), kMessages * 2 / 5); });
  Attack([this](HostilePeer& peer) { peer.FloodRouter(job_.PortOf(0), kMessages * 2 / 5); });
  Attack([this](HostilePeer& peer) { peer.FloodWorkerSocket(job_.SocketPathOf(0), kMessages / 5); });
  Train();
  EXPECT_GE(sent_, kMessages);
  // Connections between the nodes may have come meanwhile, but nothing stays of thousands of strangers.
  ExpectFewOpenFiles(job_.node(0).pid(), files_before + 20);
  ExpectFewOpenFiles(job_.scheduler().pid(), scheduler_files_before + 20);
  // Not all that breaks ZeroMQ's rules reaches a core. What a stranger sent just before it left is lost with its
  // connection. A node closes the connection of whoever introduces itself wrongly.
  ExpectRejections(kMessages / 50, kMessages / 100);
  ExpectAllRun();
}

TEST_F(HostileTest, WhatNeighboursSaidCountsOnceEvenWhenItIsSaidAgain) {
  ASSERT_GE(proxy_.recorded().size(), 2u);
  for (int i = 0; i < 20; ++i) {
    Attack([this](HostilePeer& peer) {
      for (const std::string& bytes : proxy_.recorded()) peer.Replay(job_.PortOf(1), bytes);
    });
  }
  Train();
  ExpectAllRun();
}

TEST_F(HostileTest, ConnectionsThatSayNothingDisturbNobody) {
  HostilePeer peer(HostileMessages("test", 1));
  for (int i = 0; i < 200; ++i) {
    peer.OpenSilently(job_.scheduler_port());
    peer.OpenSilently(job_.PortOf(0));
    peer.OpenSilently(job_.SocketPathOf(0));
  }
  Train();
  ExpectAllRun();
}

// Strangers without a key: how many of each kind.
int64_t Strangers() { return std::getenv("BANYAN_LONG") == nullptr ? 2000 : 100000; }

int64_t MemoryBytes(pid_t process, absl::string_view what) {
  std::ifstream file(absl::StrCat("/proc/", process, "/status"));
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    int64_t kilobytes = 0;
    if (!absl::ConsumePrefix(&rest, what)) continue;
    rest = absl::StripSuffix(absl::StripAsciiWhitespace(rest), " kB");
    EXPECT_TRUE(absl::SimpleAtoi(rest, &kilobytes)) << line;
    return kilobytes << 10;
  }
  ADD_FAILURE() << "process " << process << " says nothing of " << what;
  return 0;
}

// What a daemon uses more at its peak from now on, until this ends, is bounded.
class MemoryWatch {
 public:
  explicit MemoryWatch(const ChildProcess& process)
      : process_(process), before_bytes_(MemoryBytes(process.pid(), "VmRSS:")) {
    std::ofstream(absl::StrCat("/proc/", process_.pid(), "/clear_refs")) << "5";  // the peak is now
  }
  ~MemoryWatch() {
    constexpr int64_t kMostBytes = int64_t{64} << 20;
    const int64_t peak_bytes = MemoryBytes(process_.pid(), "VmHWM:");
    const int64_t after_bytes = MemoryBytes(process_.pid(), "VmRSS:");
    std::cout << process_.name() << ": " << (before_bytes_ >> 20) << " MB before, " << (peak_bytes >> 20)
              << " MB at the peak, " << (after_bytes >> 20) << " MB after\n";
    if (!IsSanitized()) {
      EXPECT_LE(peak_bytes - before_bytes_, kMostBytes) << process_.name();
    }
  }

 private:
  const ChildProcess& process_;
  const int64_t before_bytes_;
};

class StrangersTest : public HostileTest {
 protected:
  StrangersTest() : HostileTest(/*has_keys=*/true) {}

  // Each of them at the scheduler and at the first node.
  template <typename Work>
  void AttackBoth(Work work) {
    for (const int port : {job_.scheduler_port(), job_.PortOf(0)}) {
      Attack([work, port](HostilePeer& peer) { work(peer, port); });
    }
  }
  // Trains meanwhile.
  void Endure() {
    const MemoryWatch scheduler(job_.scheduler());
    const MemoryWatch node(job_.node(0));
    Train();
    threads_.clear();
  }
};

TEST_F(StrangersTest, HalfOpenConnectionsInTurn) {
  AttackBoth([](HostilePeer& peer, int port) { peer.OpenInTurn(port, Strangers()); });
  Endure();
  // Of those that all stay too many are ended.
  HostilePeer crowd(HostileMessages("test", ++attacks_));
  crowd.OpenInTurn(job_.scheduler_port(), HostilePeer::kBeside);
  ExpectRejections(HostilePeer::kBeside / 4, -1);
  ExpectAllRun();
}

TEST_F(StrangersTest, HellosWithoutAKey) {
  PeerHello said;
  said.job = "test";
  said.node = NodeId(2);
  said.incarnation = Incarnation(5);
  const std::string hello = ZmtpCommand("HELLO", std::string(194, 'x'));
  const std::string plain = ZmtpReady() + ZmtpFrame(EncodeMessage(said));
  AttackBoth([&](HostilePeer& peer, int port) {
    peer.SayInTurn(port, ZmtpGreeting("CURVE"), hello, Strangers() / 2);
    peer.SayInTurn(port, ZmtpGreeting(), plain, Strangers() / 2);
  });
  Endure();
  ExpectRejections(Strangers() / 2, -1);
  ExpectAllRun();
}

TEST_F(StrangersTest, MessagesWithoutEnd) {
  std::string small = ZmtpReady();
  for (int i = 0; i < 100000; ++i) small += ZmtpFrame("x", /*more=*/true);
  const std::string large = ZmtpFrameHeader(60 << 20) + std::string(60 << 20, 'x');
  const int64_t count = Strangers() / 1000;
  AttackBoth([&](HostilePeer& peer, int port) {
    peer.SayInTurn(port, ZmtpGreeting("CURVE"), small, count);
    peer.SayInTurn(port, ZmtpGreeting("CURVE"), large, count);
  });
  Endure();
  ExpectAllRun();
}

TEST_F(StrangersTest, AGoodNodeComesBackAmidThem) {
  std::atomic<bool> is_back = false;
  AttackBoth([&](HostilePeer& peer, int port) {
    while (!is_back) peer.OpenInTurn(port, 2 * static_cast<int64_t>(HostilePeer::kBeside));
  });
  {
    const auto end = absl::MakeCleanup([&] {
      is_back = true;
      for (std::thread& thread : threads_) thread.join();
    });
    JobFixture::Kill(job_.node(2));
    job_.StartNode(2);
    job_.WaitForLog("n3", "joined job");
  }
  ExpectAllRun();
}

}  // namespace
}  // namespace banyan
