#include "scheduler/policy/plan_computation.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/evaluation/simple_bound.h"
#include "topology/fit/price_fit.h"
#include "topology/packing/rate_bound.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

// A path 1 - 2 - 3.
NetworkView PathView() {
  std::vector<NetworkNode> nodes(3);
  for (uint32_t i = 0; i < 3; ++i) nodes[i].id = NodeId(i + 1);
  for (NetworkNode& node : nodes) node.name = absl::StrCat("n", node.id.value());
  std::vector<NetworkLink> links(4);
  const uint32_t ends[4][2] = {{1, 2}, {2, 1}, {2, 3}, {3, 2}};
  for (size_t i = 0; i < 4; ++i) {
    links[i].from = NodeId(ends[i][0]);
    links[i].to = NodeId(ends[i][1]);
    links[i].throughput_bps = 1e6;
  }
  return *NetworkView::Create(nodes, links);
}

TEST(PlanComputationTest, PlansForTheMembers) {
  PlanComputation plan(PathView(), {NodeId(1), NodeId(2)}, PlannerConfig());
  EXPECT_GT(plan.size_bytes(), 0);
  plan.Run();
  const absl::StatusOr<Policy> policy = plan.TakePolicy();
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_THAT(policy->members, ElementsAre(NodeId(1), NodeId(2)));
}

std::vector<NodeId> AllNodes(const NetworkView& view) {
  std::vector<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.push_back(node.id);
  return members;
}

// Every direction's rate times 1 or `factor`, in turns.
NetworkView Wavering(const NetworkView& view, double factor) {
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (size_t i = 0; i < links.size(); i += 2) links[i].throughput_bps *= factor;
  return *NetworkView::Create({view.nodes().begin(), view.nodes().end()}, links);
}

// Over the fast links a round is much sooner done than over the cheap ones.
TEST(PlanComputationTest, APolicyInUseThatCostsMoreThanTheBudgetGoes) {
  NetworkView view = CompleteNetwork(3, 100);
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  for (NetworkLink& link : links) link.price_per_gb = 0.05;
  links[0].price_per_gb = links[2].price_per_gb = 0.01;
  view = *view.WithLinks(links);
  PlannerConfig config;
  config.tensors = {10'000'000};
  PlanComputation free(view, AllNodes(view), config);
  free.Run();
  const Policy in_use = *free.TakePolicy();
  const double price = RoundPrice(in_use, view, config.tensors);
  config.budget_per_round = 0.97 * price;
  PlanComputation within(view, AllNodes(view), config, in_use);
  within.Run();
  const absl::StatusOr<Policy> policy = within.TakePolicy();
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_LE(RoundPrice(*policy, view, config.tensors), *config.budget_per_round);
}

TEST(PlanComputationTest, ValuesThePolicyInUseOnTheMembersLinks) {
  PlanComputation first(PathView(), {NodeId(1), NodeId(2)}, PlannerConfig());
  first.Run();
  const Policy policy = *first.TakePolicy();
  Policy stale = policy;
  stale.rate_bps = stale.auxiliary_rate_bps = 1;
  PlanComputation again(PathView(), {NodeId(1), NodeId(2)}, PlannerConfig(), stale);
  again.Run();
  const PlanComputation::InUse in_use = again.TakeInUse();
  EXPECT_EQ(in_use.as_published, policy);
  EXPECT_EQ(in_use.refreshed, policy);
}

TEST(PlanComputationTest, ValuesTheFormerPolicyToo) {
  const NetworkView view = Internet2Network();
  PlannerConfig config;
  config.tensors = {1000000};
  const Policy policy = *MakePolicy(view, config);
  PlanComputation plan(Wavering(view, 0.5), AllNodes(view), config, policy, policy);
  plan.Run();
  EXPECT_GT(plan.former_round_time(), policy.round_time);
  EXPECT_EQ(plan.former_round_time(), plan.TakeInUse().as_published.round_time);
}

TEST(PlanComputationTest, BetweenClosePlansTheNearestToTheOneInUseWins) {
  const NetworkView view = Internet2Network();
  PlannerConfig config;
  config.planner = "packed";
  const Policy policy = *MakePolicy(view, config);
  PlanComputation close(Wavering(view, 1.02), AllNodes(view), config, policy);
  close.Run();
  const Policy nearest = *close.TakePolicy();
  ASSERT_EQ(nearest.trees.size(), policy.trees.size());
  for (size_t i = 0; i < policy.trees.size(); ++i) {
    EXPECT_EQ(nearest.trees[i].reduce_parent, policy.trees[i].reduce_parent);
    EXPECT_EQ(nearest.trees[i].broadcast_parent, policy.trees[i].broadcast_parent);
  }
  PlanComputation far(Wavering(view, 0.3), AllNodes(view), config, policy);
  far.Run();
  const Policy planned = *far.TakePolicy();
  const PlanComputation::InUse in_use = far.TakeInUse();
  EXPECT_GT(planned.rate_bps, 1.03 * in_use.refreshed.rate_bps);
  EXPECT_GE(in_use.refreshed.rate_bps, in_use.as_published.rate_bps);
}

// A division that rests on auxiliary paths looks as good on paper, and is not.
TEST(PlanComputationTest, RefreshedPackedTreesDoNotCountOnAuxiliaryPaths) {
  const NetworkView view = HubAndMeshNetwork(4, 100, 5);
  PlannerConfig config;
  config.planner = "packed";
  config.auxiliary = true;
  config.tensors = {11'500'000};
  const Policy policy = *MakePolicy(view, config);
  PlanComputation plan(view, AllNodes(view), config, policy);
  plan.Run();
  EXPECT_GT(plan.TakePolicy()->rate_bps, 0.98 * policy.rate_bps);
  EXPECT_GT(plan.TakeInUse().refreshed.rate_bps, 0.98 * policy.rate_bps);
}

TEST(PlanComputationTest, ThePolicyHasTheTightestBound) {
  const NetworkView view = Internet2Network();
  PlannerConfig config;
  config.planner = "fapt";
  PlanComputation plan(view, AllNodes(view), config);
  plan.Run();
  const double bound_bps = plan.TakePolicy()->bound_bps;
  EXPECT_EQ(bound_bps, RateBoundBps(view));
  EXPECT_LT(bound_bps, 0.9 * SimpleBoundBps(view));
}

TEST(PlanComputationTest, GivesThePlannersError) {
  PlanComputation plan(PathView(), {NodeId(1), NodeId(3)}, PlannerConfig());
  plan.Run();
  EXPECT_EQ(plan.TakePolicy().status().code(), absl::StatusCode::kFailedPrecondition);
  PlanComputation unknown(PathView(), {NodeId(1), NodeId(9)}, PlannerConfig());
  unknown.Run();
  EXPECT_FALSE(unknown.TakePolicy().ok());
}

}  // namespace
}  // namespace banyan
