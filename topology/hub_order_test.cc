#include "topology/hub_order.h"

#include "gtest/gtest.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

double StarRateBps(const NetworkView& view, NodeId hub) {
  PlannerConfig config;
  config.planner = "star";
  config.root = hub;
  const absl::StatusOr<Policy> policy = MakePolicy(view, config);
  EXPECT_TRUE(policy.ok()) << policy.status();
  return policy.ok() ? policy->rate_bps : 0;
}

TEST(HubOrderTest, HubsComeByTheRateOfTheirStar) {
  const NetworkView view = Internet2Network();
  const absl::StatusOr<std::vector<NodeId>> hubs = HubsByRate(view);
  ASSERT_TRUE(hubs.ok()) << hubs.status();
  ASSERT_EQ(hubs->size(), 9u);
  EXPECT_EQ(view.NameOf(hubs->front()), "n6");
  for (size_t i = 1; i < hubs->size(); ++i) {
    EXPECT_GE(StarRateBps(view, (*hubs)[i - 1]), StarRateBps(view, (*hubs)[i]));
  }
  EXPECT_GT(StarRateBps(view, hubs->front()), 1.5 * StarRateBps(view, hubs->back()));
}

TEST(HubOrderTest, FailsWithoutAPathToEveryNode) {
  EXPECT_FALSE(HubsByRate(SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}})).ok());
}

}  // namespace
}  // namespace banyan
