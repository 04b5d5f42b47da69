#include "topology/fixed_roots.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/sample_networks.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

std::vector<FixedRoot> RootsOf(const Policy& policy) {
  std::vector<FixedRoot> roots;
  for (const Tree& tree : policy.trees) roots.push_back({tree.root, tree.share});
  return roots;
}

TEST(FixedRootsTest, EveryPlannerKeepsRootsAndShares) {
  const NetworkView first = Internet2Network();
  const Policy before = *MakePolicy(first, {});
  const NetworkView second = RandomNetwork(9, 4, 5);
  for (const char* planner : {"fapt", "star", "bkt", "mst"}) {
    PlannerConfig config;
    config.planner = planner;
    config.fixed_roots = RootsOf(before);
    const absl::StatusOr<Policy> after = MakePolicy(second, config);
    ASSERT_TRUE(after.ok()) << planner << ": " << after.status();
    EXPECT_EQ(RootsOf(*after), config.fixed_roots);
    EXPECT_TRUE(ValidatePolicy(*after, second).ok()) << ValidatePolicy(*after, second);
    EXPECT_GT(after->rate_bps, 0);
    EXPECT_EQ(after->planner, planner);
  }
}

TEST(FixedRootsTest, CustomTreesAreTakenInTheOrderOfTheRoots) {
  const NetworkView view = TriangleNetwork();
  const NodeId a(1), b(2), c(3);
  PlannerConfig config;
  config.planner = "custom";
  config.fixed_roots = {{b, 0.25}, {a, 0.75}};
  config.trees = {{a, 0, {{b, a}, {c, b}}, {{b, a}, {c, b}}}, {b, 0, {{a, b}, {c, b}}, {{a, b}, {c, b}}}};
  const absl::StatusOr<Policy> policy = MakePolicy(view, config);
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_EQ(RootsOf(*policy), config.fixed_roots);

  config.trees[0].share = 0.5;
  config.trees[1].share = 0.5;
  EXPECT_THAT(std::string(MakePolicy(view, config).status().message()), HasSubstr("the share of root n2 is 0.25"));
  config.trees.pop_back();
  EXPECT_THAT(std::string(MakePolicy(view, config).status().message()), HasSubstr("root n2 is missing"));
}

}  // namespace
}  // namespace banyan
