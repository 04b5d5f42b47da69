// Connections that stop carrying without a word to anybody: what they cost, and what is said of them.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kLostAfter = absl::Seconds(2);

ClusterOptions Linked(int nodes) {
  ClusterOptions options = LinkedCluster(nodes, 2e6, 2e6);
  options.plan.rounds = 20;
  options.overlay.membership.heartbeat = absl::Milliseconds(400);
  options.overlay.membership.lost_after = kLostAfter;
  return options;
}

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

void RunUntilRound(Cluster* cluster, uint64_t rounds_done) {
  ASSERT_TRUE(cluster->simulator()->RunUntil([&] { return cluster->rounds_done() >= rounds_done; }, Seconds(100)));
}

// The longest round so far.
absl::Duration LongestRound(const Cluster& cluster) {
  absl::Duration longest;
  for (const auto& [round, times] : cluster.clock().rounds()) longest = std::max(longest, times.Synchronisation());
  return longest;
}

// Trains to the end. Returns what was traced of this.
std::string TraceOf(Cluster* cluster, const std::string& what) {
  std::string found;
  cluster->simulator()->trace()->set_sink([&found, what](const std::string& line) {
    if (line.find(what) != std::string::npos) found += line + "\n";
  });
  cluster->RunUntilTrained(cluster->simulator()->now() + absl::Minutes(10));
  return found;
}

// Counts what chunks take on all links.
struct ChunkBytes : TrafficObserver {
  void OnSent(const SentMessage& message) override {
    if (std::holds_alternative<ChunkMessage>(message.message)) bytes += message.size_bytes;
  }
  int64_t bytes = 0;
};

struct Way {
  bool forward = false;
  bool backward = false;
};

class SilencesTest : public testing::TestWithParam<Way> {};

TEST_P(SilencesTest, AConnectionCostsARoundNoMoreThanTheSilenceThatEndsAPeer) {
  ChangingCluster changing(Linked(4));
  Cluster& cluster = *changing;
  RunUntilRound(&cluster, 3);
  const absl::Duration usual = LongestRound(cluster);
  SimulatedNetwork* network = cluster.simulator()->network();
  const std::vector<ConnectionIndex> in_use = network->ConnectionsInUse(NodeId(1), NodeId(2));
  ASSERT_GT(in_use.size(), 2u);
  // One after the other, control and data.
  for (const ConnectionIndex connection : in_use) {
    network->Silence(connection, GetParam().forward, GetParam().backward);
    RunUntilRound(&cluster, cluster.rounds_done() + 1);
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_LE(LongestRound(cluster), kLostAfter + usual);
  EXPECT_EQ(cluster.epoch(), Epoch(1));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST_P(SilencesTest, AllConnectionsOfThreeLinksAtOnceCostNoMore) {
  ChangingCluster changing(Linked(4));
  Cluster& cluster = *changing;
  RunUntilRound(&cluster, 3);
  const absl::Duration usual = LongestRound(cluster);
  SimulatedNetwork* network = cluster.simulator()->network();
  for (const auto& [a, b] : {std::pair(1, 2), std::pair(2, 3), std::pair(1, 4)}) {
    for (const ConnectionIndex connection : network->ConnectionsInUse(NodeId(a), NodeId(b))) {
      network->Silence(connection, GetParam().forward, GetParam().backward);
    }
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_LE(LongestRound(cluster), kLostAfter + usual);
  EXPECT_EQ(cluster.epoch(), Epoch(1));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST_P(SilencesTest, AConnectionToTheSchedulerCostsNobodyHisPlace) {
  ChangingCluster changing(Linked(4));
  Cluster& cluster = *changing;
  RunUntilRound(&cluster, 3);
  SimulatedNetwork* network = cluster.simulator()->network();
  for (const ConnectionIndex connection : network->ConnectionsInUse(NodeId(2), kSchedulerNode)) {
    network->Silence(connection, GetParam().forward, GetParam().backward);
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(120))) << cluster.WhoWaits();
  EXPECT_EQ(cluster.epoch(), Epoch(1));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

INSTANTIATE_TEST_SUITE_P(Ways, SilencesTest, testing::Values(Way{true, false}, Way{false, true}, Way{true, true}));

TEST(SilencesTest, APathThatForgetsCostsNoMoreThanTheSilenceThatEndsAPeer) {
  ClusterOptions options = Linked(4);
  options.plan.compute_time = absl::Seconds(3);
  options.overlay.topology.planner = "star";
  ChangingCluster changing(options);
  Cluster& cluster = *changing;
  RunUntilRound(&cluster, 2);
  const absl::Duration usual = LongestRound(cluster);
  SimulatedNetwork* network = cluster.simulator()->network();
  for (const auto& [link, simulated] : network->links()) {
    network->PlaceMiddleBox(link.first, link.second, {.forgets_after = absl::Seconds(2)});
  }
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(240))) << cluster.WhoWaits();
  EXPECT_LE(LongestRound(cluster), kLostAfter + usual);
  EXPECT_EQ(cluster.epoch(), Epoch(1));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(SilencesTest, ADeadNodeIsNotSentTheSameAgainAndAgainWhileTheSchedulerIsAway) {
  ChangingCluster changing(Linked(3));
  Cluster& cluster = *changing;
  ChunkBytes sent;
  cluster.simulator()->network()->AddObserver(&sent);
  RunUntilRound(&cluster, 4);
  const int64_t of_a_round = sent.bytes / 4;
  cluster.processes()->KillScheduler(/*silently=*/false);
  cluster.processes()->KillNode(NodeId(3), /*silently=*/false);
  sent.bytes = 0;
  cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Minutes(2));
  // What was under way once more, and a chunk on each auxiliary path now and then.
  EXPECT_LT(sent.bytes, 2 * of_a_round);
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(SilencesTest, ALinkThatOnlySmallMessagesPassIsNamedAndAvoided) {
  ChangingCluster changing(Linked(4));
  Cluster& cluster = *changing;
  RunUntilRound(&cluster, 2);
  cluster.simulator()->network()->PlaceMiddleBox(NodeId(1), NodeId(2), {.drops_from_bytes = 300});
  cluster.simulator()->network()->PlaceMiddleBox(NodeId(2), NodeId(1), {.drops_from_bytes = 300});
  EXPECT_THAT(TraceOf(&cluster, "large messages"), HasSubstr("do not pass (path MTU?)"));
  EXPECT_EQ(cluster.WhoWaits(), "");
  EXPECT_EQ(cluster.epoch(), Epoch(2));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

}  // namespace
}  // namespace banyan
