#include "runtime/local_node.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
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
links:
  - {between: [n1, n2], mbps: 100}
  - {between: [n2, n3], mbps: 100}
aggregation: {op: sum}
chunks: {max_elements: 100}
membership: {heartbeat_seconds: 0.1, lost_after_seconds: 60}
)";
constexpr int kNodes = 3;
constexpr absl::Duration kLong = absl::Seconds(60);

// The scheduler's core on a thread of its own.
class LocalNodeTest : public testing::Test {
 protected:
  explicit LocalNodeTest(const std::string& more = "") : scheduler_(absl::StrCat(kOverlay, more)) {}

  std::unique_ptr<LocalNode> Start(int number, std::function<void(int, absl::string_view)> log = {}) {
    return scheduler_.StartNode(number, std::move(log));
  }

  SchedulerThread scheduler_;
};

// One data centre: its node, its worker, its rounds.
void Train(LocalNode& node, int number) {
  auto session = node.OpenSession(0, kLong);
  ASSERT_TRUE(session.ok()) << session.status();
  std::vector<float> values(1000, static_cast<float>(number));
  ASSERT_TRUE((*session)->Init("w", values, absl::MakeSpan(values)).Wait(kLong).ok());
  EXPECT_EQ(values, std::vector<float>(1000, 1));
  for (int round = 1; round <= 10; ++round) {
    std::vector<float> gradient(1000, static_cast<float>(number * round));
    Ticket ticket = (*session)->PushPull("w", gradient, absl::MakeSpan(gradient));
    const absl::Status done = ticket.Wait(kLong);
    ASSERT_TRUE(done.ok()) << done;
    EXPECT_EQ(gradient, std::vector<float>(1000, static_cast<float>(6 * round)));
  }
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
}

TEST_F(LocalNodeTest, NodesInOneProcessTrainTogether) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::thread> threads;
  for (int number = 1; number <= kNodes; ++number) nodes.push_back(Start(number));
  for (int number = 1; number <= kNodes; ++number) {
    threads.emplace_back([&node = *nodes[number - 1], number] { Train(node, number); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& node : nodes) EXPECT_TRUE(node->Stop().ok());
}

// Waits for a little while again and again, until the error says `part`.
void ExpectWait(Ticket& ticket, const std::string& part) {
  absl::Status status;
  do {
    status = ticket.Wait(absl::Milliseconds(100));
  } while (absl::IsDeadlineExceeded(status) && !absl::StrContains(status.message(), part));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST_F(LocalNodeTest, ATimeoutSaysForWhomACallWaits) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  for (int number = 1; number <= 2; ++number) nodes.push_back(Start(number));
  const std::vector<float> values(10, 1);
  auto first = nodes[0]->OpenSession(0, kLong);
  ASSERT_TRUE(first.ok()) << first.status();
  Ticket init = (*first)->Init("w", values);
  ExpectWait(init, "for n3 to join the job");
  nodes.push_back(Start(3));
  auto second = nodes[1]->OpenSession(0, kLong);
  ASSERT_TRUE(second.ok()) << second.status();
  Ticket other = (*second)->Init("w", values);
  ExpectWait(init, "for n3 (no worker is attached) to call Init for it");
  auto third = nodes[2]->OpenSession(0, kLong);
  ASSERT_TRUE(third.ok()) << third.status();
  ExpectWait(init, "for worker 0 of n3 to call Init for it");
  Ticket barrier = (*first)->Barrier();
  ExpectWait(barrier, "for worker 0 of n2, worker 0 of n3 to enter it");
  // Another shape is told to all.
  const absl::Status wrong = (*third)->Init("w", std::vector<float>(11)).Wait(kLong);
  for (const absl::Status& status : {wrong, init.Wait(kLong), other.Wait(kLong)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "n3 gives it 11 elements, n")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), " gave it 10;")) << status;
  }
}

// One data centre with a group of tensors, which together are more than a chunk.
void TrainGroup(LocalNode& node, int number) {
  auto session = node.OpenSession(0, kLong);
  ASSERT_TRUE(session.ok()) << session.status();
  constexpr int kTensors = 100;
  std::vector<std::vector<float>> values;
  std::vector<GroupPart> parts;
  for (int i = 0; i < kTensors; ++i) values.emplace_back(i % 7, static_cast<float>(number));
  for (int i = 0; i < kTensors; ++i) parts.push_back({absl::StrCat("t", i), values[i], absl::MakeSpan(values[i])});
  ASSERT_TRUE((*session)->InitGroup("model", parts).Wait(kLong).ok());
  EXPECT_EQ(values[6], std::vector<float>(6, 1));
  for (int round = 1; round <= 5; ++round) {
    for (int i = 0; i < kTensors; ++i) std::fill(values[i].begin(), values[i].end(), static_cast<float>(number * i));
    std::vector<Ticket> tickets;
    for (int i = 0; i < kTensors; ++i) {
      // In another order at each site.
      const int tensor = (i * 7 + number * 13) % kTensors;
      tickets.push_back((*session)->PushPull(absl::StrCat("t", tensor), values[tensor], values[tensor]));
    }
    for (Ticket& ticket : tickets) ASSERT_TRUE(ticket.Wait(kLong).ok());
    for (int i = 0; i < kTensors; ++i) EXPECT_EQ(values[i], std::vector<float>(i % 7, static_cast<float>(6 * i)));
  }
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
}

TEST_F(LocalNodeTest, TheTensorsOfAGroupTravelAsOne) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::thread> threads;
  for (int number = 1; number <= kNodes; ++number) nodes.push_back(Start(number));
  for (int number = 1; number <= kNodes; ++number) {
    threads.emplace_back([&node = *nodes[number - 1], number] { TrainGroup(node, number); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LocalNodeTest, AGroupOfOtherTensorsIsToldToAll) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Ticket> inits;
  const std::vector<float> values(10);
  for (int number = 1; number <= kNodes; ++number) {
    nodes.push_back(Start(number));
    auto session = nodes.back()->OpenSession(0, kLong);
    ASSERT_TRUE(session.ok()) << session.status();
    sessions.push_back(*std::move(session));
    inits.push_back(sessions.back()->InitGroup("g", {{"a", values}, {number == 3 ? "c" : "b", values}}));
  }
  for (Ticket& init : inits) {
    const absl::Status status = init.Wait(kLong);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    for (const char* part : {"'b' with 10 elements as tensor 2", "'c' with 10 elements as tensor 2", "n3 g"}) {
      EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
    }
  }
}

// One data centre with tensors of several types, and one of nothing.
void TrainTyped(LocalNode& node, int number) {
  auto session = node.OpenSession(0, kLong);
  ASSERT_TRUE(session.ok()) << session.status();
  constexpr int64_t kBeyondDoubles = (int64_t{1} << 53) + 1;
  std::vector<int64_t> integers(300, kBeyondDoubles);
  std::vector<double> doubles(1, 0.1);
  std::vector<uint16_t> halves(300, 0x3c00);  // 1
  const TensorView half(halves.data(), 300, DataType::kFloat16);
  std::vector<float> none;
  ASSERT_TRUE((*session)->Init("integers", integers).Wait(kLong).ok());
  ASSERT_TRUE((*session)->Init("doubles", doubles).Wait(kLong).ok());
  ASSERT_TRUE((*session)->Init("halves", half).Wait(kLong).ok());
  ASSERT_TRUE((*session)->Init("none", none, none).Wait(kLong).ok());
  std::vector<Ticket> tickets;
  tickets.push_back((*session)->PushPull("integers", integers, integers));
  tickets.push_back((*session)->PushPull("doubles", doubles, doubles));
  tickets.push_back((*session)->PushPull("halves", half, half));
  tickets.push_back((*session)->PushPull("none", none, none));
  for (Ticket& ticket : tickets) EXPECT_TRUE(ticket.Wait(kLong).ok()) << ticket.Wait();
  EXPECT_EQ(integers, std::vector<int64_t>(300, 3 * kBeyondDoubles));
  EXPECT_EQ(doubles, std::vector<double>(1, 0.1 + 0.1 + 0.1));
  EXPECT_EQ(halves, std::vector<uint16_t>(300, 0x4200)) << number;  // 3
  EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
}

TEST_F(LocalNodeTest, TensorsOfAllTypesAreSummedInTheirOwn) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::thread> threads;
  for (int number = 1; number <= kNodes; ++number) nodes.push_back(Start(number));
  for (int number = 1; number <= kNodes; ++number) {
    threads.emplace_back([&node = *nodes[number - 1], number] { TrainTyped(node, number); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LocalNodeTest, AnotherTypeIsToldToAllWithBoth) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Ticket> inits;
  const std::vector<float> floats(10);
  const std::vector<double> doubles(10);
  for (int number = 1; number <= kNodes; ++number) {
    nodes.push_back(Start(number));
    auto session = nodes.back()->OpenSession(0, kLong);
    ASSERT_TRUE(session.ok()) << session.status();
    sessions.push_back(*std::move(session));
    const ConstTensorView values = number == 3 ? ConstTensorView(doubles) : ConstTensorView(floats);
    inits.push_back(sessions.back()->Init("w", values));
  }
  for (Ticket& init : inits) {
    const absl::Status status = init.Wait(kLong);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    for (const char* part : {"float32 elements", "float64 elements", "n3 g"}) {
      EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
    }
  }
}

class NetSenseLocalNodeTest : public LocalNodeTest {
 protected:
  NetSenseLocalNodeTest() : LocalNodeTest("compression: {codec: topk, controller: netsense, least_elements: 1}\n") {}

  // The last result of a data centre whose worker registers its weights before each round, or never.
  std::vector<float> Train(LocalNode& node, int number, bool registers) {
    auto session = node.OpenSession(0, kLong);
    EXPECT_TRUE(session.ok()) << session.status();
    std::vector<float> weights(1000);
    for (int i = 0; i < 1000; ++i) weights[i] = static_cast<float>(i % 37);
    EXPECT_TRUE((*session)->Init("w", weights, absl::MakeSpan(weights)).Wait(kLong).ok());
    std::vector<float> result(1000);
    for (int round = 1; round <= 20; ++round) {
      std::vector<Ticket> tickets;
      if (registers) tickets.push_back((*session)->RegisterWeights("w", weights));
      for (int i = 0; i < 1000; ++i) result[i] = static_cast<float>(number * (i % (round + 3)));
      tickets.push_back((*session)->PushPull("w", result, absl::MakeSpan(result)));
      for (Ticket& ticket : tickets) EXPECT_TRUE(ticket.Wait(kLong).ok());
      for (int i = 0; i < 1000; ++i) weights[i] += result[i];
    }
    EXPECT_TRUE((*session)->Barrier().Wait(kLong).ok());
    return result;
  }

  // Trains on all nodes at once and gives how many of them said that they know no weights.
  int Run(bool registers) {
    std::atomic<int> said = 0;
    std::vector<std::unique_ptr<LocalNode>> nodes;
    std::vector<std::thread> threads;
    std::vector<std::vector<float>> results(kNodes);
    for (int number = 1; number <= kNodes; ++number) {
      nodes.push_back(Start(number, [&said](int, absl::string_view line) {
        said += absl::StrContains(line, "key 'w': no worker has registered its weights");
      }));
    }
    for (int i = 0; i < kNodes; ++i) {
      threads.emplace_back([&, i] { results[i] = Train(*nodes[i], i + 1, registers); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& node : nodes) EXPECT_TRUE(node->Stop().ok());
    EXPECT_EQ(results[1], results[0]);
    EXPECT_EQ(results[2], results[0]);
    return said;
  }
};

TEST_F(NetSenseLocalNodeTest, PrunesByTheWeightsThatWorkersRegister) { EXPECT_EQ(Run(/*registers=*/true), 0); }

TEST_F(NetSenseLocalNodeTest, WithoutWeightsNodesWithAnUplinkSaySo) {
  const int said = Run(/*registers=*/false);
  // Each says so once, and a node that is the root of every chunk not at all.
  EXPECT_GE(said, kNodes - 1);
  EXPECT_LE(said, kNodes);
}

TEST_F(LocalNodeTest, AWorkerThatLeavesInTheMiddleHoldsUpNobody) {
  std::vector<std::unique_ptr<LocalNode>> nodes;
  std::vector<std::unique_ptr<Session>> sessions;
  const std::vector<float> values(1000, 1);
  for (int number = 1; number <= kNodes; ++number) {
    nodes.push_back(Start(number));
    sessions.push_back(nodes.back()->OpenSession(0, kLong).value());
  }
  {
    std::vector<Ticket> inits;
    for (const auto& session : sessions) inits.push_back(session->Init("w", values));
    for (Ticket& init : inits) EXPECT_TRUE(init.Wait(kLong).ok());
  }
  std::vector<float> result(1000);
  Ticket waiting = sessions[0]->PushPull("w", values, absl::MakeSpan(result));
  std::vector<float> dying(1000);
  Ticket cancelled = sessions[2]->PushPull("w", values, absl::MakeSpan(dying));
  sessions[2].reset();
  std::vector<float> other(1000);
  EXPECT_EQ(sessions[1]->PushPull("w", values, absl::MakeSpan(other)).Wait(kLong), absl::OkStatus());
  EXPECT_EQ(waiting.Wait(kLong), absl::OkStatus());
  EXPECT_EQ(result, other);
  // It had pushed its part, which may be in the sum.
  EXPECT_TRUE(result[0] == kNodes || result[0] == kNodes - 1) << result[0];
  Ticket next = sessions[0]->PushPull("w", values, absl::MakeSpan(result));
  EXPECT_EQ(sessions[1]->PushPull("w", values, absl::MakeSpan(other)).Wait(kLong), absl::OkStatus());
  EXPECT_EQ(next.Wait(kLong), absl::OkStatus());
  EXPECT_EQ(result, std::vector<float>(1000, kNodes - 1));
}

TEST_F(LocalNodeTest, WhatIsMissingOrWrongIsSaid) {
  EXPECT_EQ(LocalNode::Start({.scheduler = "tcp://127.0.0.1:1"}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LocalNode::Start({.name = "n1"}).status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* wrong : {"foo", "tcp://", "tcp://h", "tcp://h:", "tcp://h:0", "http://h:1", "tcp://h:1,"}) {
    EXPECT_EQ(LocalNode::Start({.name = "n1", .scheduler = wrong}).status().code(), absl::StatusCode::kInvalidArgument)
        << wrong;
  }
  auto stranger = LocalNode::Start({.name = "n9", .scheduler = scheduler_.address()});
  ASSERT_TRUE(stranger.ok());
  const absl::Status refused = (*stranger)->OpenSession(0, kLong).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(absl::StrContains(refused.message(), "n9")) << refused;
}

TEST(LocalNodeAloneTest, WithoutASchedulerOpeningASessionTimesOut) {
  auto node = LocalNode::Start({.name = "n1", .scheduler = "tcp://127.0.0.1:1"});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ((*node)->OpenSession(0, absl::Milliseconds(50)).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE((*node)->Stop().ok());
}

}  // namespace
}  // namespace banyan
