#include "runtime/local_node.h"

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
#include "runtime/protocol_host.h"
#include "runtime/session/session.h"
#include "scheduler/scheduler_core.h"
#include "topology/overlay/overlay_yaml.h"

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
  void SetUp() override {
    auto host = ProtocolHost::Create({.name = "scheduler"});
    ASSERT_TRUE(host.ok()) << host.status();
    scheduler_ = *std::move(host);
    auto core = std::make_unique<SchedulerCore>(ParseOverlay(Overlay(), "test").value(), SchedulerOptions());
    thread_ = std::thread([this, core = std::move(core)]() mutable { (void)scheduler_->Run(std::move(core)); });
  }
  void TearDown() override {
    scheduler_->RequestStop();
    thread_.join();
  }

  virtual std::string Overlay() const { return kOverlay; }

  std::unique_ptr<LocalNode> Start(int number, std::function<void(absl::string_view)> log = {}) {
    auto node = LocalNode::Start(
        {.name = absl::StrCat("n", number), .scheduler = scheduler_->bound_address(), .log = std::move(log)});
    EXPECT_TRUE(node.ok()) << node.status();
    return *std::move(node);
  }

  std::unique_ptr<ProtocolHost> scheduler_;
  std::thread thread_;
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

class NetSenseLocalNodeTest : public LocalNodeTest {
 protected:
  std::string Overlay() const override {
    return absl::StrCat(kOverlay, "compression: {codec: topk, controller: netsense, least_elements: 1}\n");
  }

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
      nodes.push_back(Start(number, [&said](absl::string_view line) {
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
  auto stranger = LocalNode::Start({.name = "n9", .scheduler = scheduler_->bound_address()});
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
