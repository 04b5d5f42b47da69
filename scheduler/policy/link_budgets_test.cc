#include "scheduler/policy/link_budgets.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr NodeId kA(1), kB(2), kC(3);
constexpr double kFastBps = 80e6;
constexpr double kSlowBps = 8e6;
constexpr int64_t kElements = 10000000;  // 4 seconds on a fast link, 40 on a slow one

// a - b - c, without delay; b to c and c to b are slow.
NetworkView Chain(double slow_bps = kSlowBps) {
  std::vector<NetworkNode> nodes(3);
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = NodeId(static_cast<uint32_t>(i + 1));
    nodes[i].name = std::string(1, static_cast<char>('a' + i));
  }
  const auto link = [](NodeId from, NodeId to, double bps) {
    NetworkLink made;
    made.from = from;
    made.to = to;
    made.throughput_bps = bps;
    return made;
  };
  return *NetworkView::Create(
      nodes, {link(kA, kB, kFastBps), link(kB, kA, kFastBps), link(kB, kC, slow_bps), link(kC, kB, slow_bps)});
}

// One tree with root a; c hangs on b, or on a over b.
Policy OneTree(NodeId parent_of_c, int64_t chunk_elements) {
  Policy policy;
  policy.members = {kA, kB, kC};
  policy.chunk_max_elements = chunk_elements;
  Tree tree;
  tree.root = kA;
  tree.share = 1;
  tree.reduce_parent = {{kB, kA}, {kC, parent_of_c}};
  tree.broadcast_parent = tree.reduce_parent;
  policy.trees = {tree};
  if (parent_of_c == kA) policy.routes = {Route{kA, kC, {kA, kB, kC}, 0}, Route{kC, kA, {kC, kB, kA}, 0}};
  return policy;
}

CompressionConfig Budget(double seconds) {
  CompressionConfig config;
  config.rules = {{.codec = CodecId::kTopK,
                   .controller = RatioControllerKind::kBudget,
                   .numbers = {{"seconds", seconds}, {"start_ratio", 0.001}, {"least_ratio", 0.0001}}}};
  return config;
}

TEST(LinkBudgetsTest, WithoutABudgetThereIsNothingToShare) {
  CompressionConfig config;
  config.rules = {{.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}, {.codec = CodecId::kFp16}};
  EXPECT_TRUE(MakeLinkBudgets(OneTree(kB, 1000), Chain(), config, {kElements}).empty());
}

TEST(LinkBudgetsTest, LinksThatWorkAtTheSameTimeHaveHalfOfTheRoundEach) {
  const LinkBudgets budgets = MakeLinkBudgets(OneTree(kB, 1), Chain(), Budget(1), {kElements});
  ASSERT_EQ(budgets.size(), 4u);
  for (const auto& [ends, share] : budgets) EXPECT_NEAR(share, 0.5, 1e-5);
}

TEST(LinkBudgetsTest, LinksThatWorkOneAfterTheOtherShareTheHalf) {
  const LinkBudgets budgets = MakeLinkBudgets(OneTree(kB, kElements), Chain(), Budget(1), {kElements});
  for (const auto& [ends, share] : budgets) EXPECT_NEAR(share, 0.25, 1e-9);
}

TEST(LinkBudgetsTest, WhatAFastLinkDoesNotNeedIsTheSlowOnes) {
  // 1 MB takes 0.1 s on the fast links, 1 s on the slow ones.
  const LinkBudgets budgets = MakeLinkBudgets(OneTree(kB, 250000), Chain(), Budget(1), {250000});
  EXPECT_NEAR(budgets.at({kB, kA}), 0.1, 1e-9);
  EXPECT_NEAR(budgets.at({kC, kB}), 0.4, 1e-9);
  EXPECT_NEAR(budgets.at({kB, kC}), 0.4, 1e-9);
}

TEST(LinkBudgetsTest, ALinkThatIsOnTwoWaysCarriesBoth) {
  // What c sends crosses b's link to a beside what b sends.
  const LinkBudgets budgets = MakeLinkBudgets(OneTree(kA, 250000), Chain(), Budget(1), {250000});
  EXPECT_NEAR(budgets.at({kB, kA}), 0.2, 1e-9);
  EXPECT_NEAR(budgets.at({kC, kB}), 0.3, 1e-9);
}

TEST(LinkBudgetsTest, WhileTensorsAreUnknownAllLinksAreTooSlow) {
  const LinkBudgets budgets = MakeLinkBudgets(OneTree(kB, 1), Chain(), Budget(1), {});
  for (const auto& [ends, share] : budgets) EXPECT_NEAR(share, 0.5, 1e-3);
}

}  // namespace
}  // namespace banyan
