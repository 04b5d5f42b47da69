// Whatever arrives on any socket of a daemon, it neither dies nor does the job stop, and the sums stay exact.
#include <dirent.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
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
  HostileTest() : job_(JobSpec{.more = "chunks: {max_elements: 5000}\n"}), proxy_(job_.PortOf(1)) {
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

}  // namespace
}  // namespace banyan
