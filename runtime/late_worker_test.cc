// Workers that begin while others train: of a node that joined late, of one that was restarted, and beside a node that
// lived on. They fetch the training state, and then all replicas stay equal.
#include <atomic>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/local_node.h"
#include "runtime/session/session.h"
#include "runtime/testing/scheduler_thread.h"

namespace banyan {
namespace {

constexpr char kOverlay[] = R"(
job: test
scheduler: {address: tcp://127.0.0.1:7700}
nodes:
  - {name: n1, address: tcp://127.0.0.1:7701}
  - {name: n2, address: tcp://127.0.0.1:7702}
  - {name: n3, address: tcp://127.0.0.1:7703}
  - {name: n4, address: tcp://127.0.0.1:7704}
links:
  - {between: [n1, n2], mbps: 100}
  - {between: [n2, n3], mbps: 100}
  - {between: [n1, n3], mbps: 100}
  - {between: [n3, n4], mbps: 100}
aggregation: {op: sum}
chunks: {max_elements: 1000}
membership: {start_with: 3, heartbeat_seconds: 0.1, lost_after_seconds: 5}
)";
constexpr absl::Duration kLong = absl::Seconds(60);
constexpr size_t kElements = 30'000;
constexpr uint64_t kForEver = std::numeric_limits<uint64_t>::max();

template <typename Value>
absl::Span<uint8_t> BytesOf(std::vector<Value>& values) {
  return {reinterpret_cast<uint8_t*>(values.data()), values.size() * sizeof(Value)};
}

// What one worker trains: its state follows from the results of all rounds.
struct Replica {
  std::vector<float> weights = std::vector<float>(kElements);
  std::vector<double> moments = std::vector<double>(kElements);
  std::vector<int64_t> step = {0};
  bool has_fetched = false;

  friend bool operator==(const Replica& a, const Replica& b) {
    return a.weights == b.weights && a.moments == b.moments && a.step == b.step;
  }
};

class LateWorkerTest : public testing::Test {
 protected:
  std::unique_ptr<LocalNode> Start(int number) { return scheduler_.StartNode(number); }
  // Gets ready to train; nullptr after a failure.
  std::unique_ptr<Session> Open(LocalNode& node, Replica& replica) {
    auto opened = node.OpenSession(0, kLong);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return nullptr;
    std::unique_ptr<Session> session = *std::move(opened);
    const absl::Status init = session->Init("w", replica.weights, absl::MakeSpan(replica.weights)).Wait(kLong);
    EXPECT_TRUE(init.ok()) << init;
    const absl::Status other = session->Init("b", std::vector<float>(10)).Wait(kLong);
    EXPECT_TRUE(other.ok()) << other;
    const absl::Status shared = session->ShareState({{"weights", BytesOf(replica.weights)},
                                                     {"moments", BytesOf(replica.moments)},
                                                     {"step", BytesOf(replica.step)}});
    EXPECT_TRUE(shared.ok()) << shared;
    const absl::StatusOr<uint64_t> step = session->FetchState(kLong);
    EXPECT_TRUE(step.ok() || absl::IsNotFound(step.status())) << step.status();
    replica.has_fetched = step.ok();
    if (step.ok()) {
      EXPECT_EQ(replica.step[0], static_cast<int64_t>(*step));
    }
    return session;
  }
  // Trains until after the step `last_`, which may be set meanwhile, or after `steps` of its own.
  void Train(Session& session, Replica& replica, int number, uint64_t steps = kForEver) {
    for (uint64_t done = 0; done < steps && replica.step[0] < static_cast<int64_t>(last_.load()); ++done) {
      std::vector<float> gradient(kElements, static_cast<float>(number));
      std::vector<float> small(10, 1);
      Ticket ticket = session.PushPull("w", gradient, absl::MakeSpan(gradient));
      const absl::Status other = session.PushPull("b", small, absl::MakeSpan(small)).Wait(kLong);
      ASSERT_TRUE(other.ok()) << other;
      const absl::Status trained = ticket.Wait(kLong);
      ASSERT_TRUE(trained.ok()) << trained;
      for (size_t i = 0; i < kElements; ++i) {
        replica.weights[i] += gradient[i] + static_cast<float>(i % 7);
        replica.moments[i] = 0.5 * replica.moments[i] + gradient[i];
      }
      if (++replica.step[0] == 5 && number == 1) under_way_.set_value();
      const absl::Status passed = session.PassBoundary(replica.step[0], kLong);
      ASSERT_TRUE(passed.ok()) << passed;
    }
  }
  // All stop soon after the step at which the caller is.
  void StopAfter(const Replica& replica) { last_ = replica.step[0] + 20; }

  SchedulerThread scheduler_{kOverlay};
  std::promise<void> under_way_;  // the first worker has trained for a while
  std::atomic<int64_t> last_ = std::numeric_limits<int64_t>::max();
};

TEST_F(LateWorkerTest, ANodeThatJoinsLateTrainsOnWithTheOthers) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<Replica> replicas(4);
  std::vector<std::thread> threads;
  for (int number = 1; number <= 3; ++number) nodes.push_back(Start(number));
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      auto session = Open(*nodes[i], replicas[i]);
      EXPECT_FALSE(replicas[i].has_fetched);
      if (session) Train(*session, replicas[i], i + 1);
    });
  }
  under_way_.get_future().wait();
  auto late = Start(4);
  auto session = Open(*late, replicas[3]);
  ASSERT_TRUE(session);
  EXPECT_TRUE(replicas[3].has_fetched);
  Train(*session, replicas[3], 4, 20);
  StopAfter(replicas[3]);
  Train(*session, replicas[3], 4);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(replicas[i], replicas[3]) << "n" << i + 1;
}

TEST_F(LateWorkerTest, ANodeThatIsRestartedTrainsOnWithTheOthers) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<Replica> replicas(3);
  std::vector<std::thread> threads;
  for (int number = 1; number <= 3; ++number) nodes.push_back(Start(number));
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      auto session = Open(*nodes[i], replicas[i]);
      if (session) Train(*session, replicas[i], i + 1);
    });
  }
  for (int life = 0; life < 3; ++life) {
    if (life > 0) nodes[2] = Start(3);
    replicas[2] = Replica();
    auto session = Open(*nodes[2], replicas[2]);
    ASSERT_TRUE(session);
    EXPECT_EQ(replicas[2].has_fetched, life > 0);
    Train(*session, replicas[2], 3, 20);
    if (life < 2) {
      // Its worker does not say good-bye.
      Ticket open = session->Barrier();
      session.reset();
      EXPECT_TRUE(nodes[2]->Stop().ok());
      nodes[2].reset();
      continue;
    }
    StopAfter(replicas[2]);
    Train(*session, replicas[2], 3);
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(replicas[i], replicas[2]) << "n" << i + 1;
}

TEST_F(LateWorkerTest, AWorkerThatIsRestartedBesideItsNodeTrainsOnWithTheOthers) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<Replica> replicas(3);
  std::vector<std::thread> threads;
  for (int number = 1; number <= 3; ++number) nodes.push_back(Start(number));
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      auto session = Open(*nodes[i], replicas[i]);
      if (session) Train(*session, replicas[i], i + 1);
    });
  }
  for (int life = 0; life < 3; ++life) {
    replicas[2] = Replica();
    auto session = Open(*nodes[2], replicas[2]);
    ASSERT_TRUE(session);
    EXPECT_EQ(replicas[2].has_fetched, life > 0);
    Train(*session, replicas[2], 3, 20);
    if (life == 2) {
      StopAfter(replicas[2]);
      Train(*session, replicas[2], 3);
    }
    Ticket open = session->Barrier();
    session.reset();
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(replicas[i], replicas[2]) << "n" << i + 1;
}

}  // namespace
}  // namespace banyan
