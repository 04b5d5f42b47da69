// What every planner promises, on many networks.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "topology/evaluation/plan_rate.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

// A planner and how it is set up; custom plans need trees of the network.
struct Setup {
  std::string name;
  std::string planner;
  std::optional<int> roots;
  ShareRule shares = ShareRule::kQuality;
  bool auxiliary = false;
};

std::vector<Setup> Setups() {
  std::vector<Setup> setups;
  for (const Setup& planner :
       {Setup{"fapt", "fapt", std::nullopt}, Setup{"fapt_one_root", "fapt", 1}, Setup{"fapt_three_roots", "fapt", 3},
        Setup{"star", "star", std::nullopt}, Setup{"bkt", "bkt", std::nullopt}, Setup{"mst", "mst", std::nullopt},
        Setup{"packed", "packed", std::nullopt}, Setup{"packed_two_roots", "packed", 2},
        Setup{"custom", "custom", std::nullopt}}) {
    for (const ShareRule shares : {ShareRule::kQuality, ShareRule::kBalanced}) {
      for (const bool auxiliary : {false, true}) {
        Setup setup = planner;
        setup.name += std::string(shares == ShareRule::kBalanced ? "_balanced" : "") + (auxiliary ? "_auxiliary" : "");
        setup.shares = shares;
        setup.auxiliary = auxiliary;
        setups.push_back(setup);
      }
    }
  }
  return setups;
}

void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

class PlannerConformanceTest : public ::testing::TestWithParam<Setup> {
 protected:
  static PlannerConfig ConfigFor(const NetworkView& view) {
    PlannerConfig config;
    config.planner = GetParam().planner;
    config.roots = GetParam().roots;
    config.shares = GetParam().shares;
    config.auxiliary = GetParam().auxiliary;
    config.chunk_max_elements = 1234;
    if (config.planner == "custom") config.trees = {FirstTwo(view, 0), FirstTwo(view, 1)};
    return config;
  }

  static Policy Planned(const NetworkView& view) {
    absl::StatusOr<Policy> policy = MakePolicy(view, ConfigFor(view));
    EXPECT_TRUE(policy.ok()) << policy.status();
    return policy.ok() ? *std::move(policy) : Policy();
  }

  static std::vector<NetworkView> Networks() {
    std::vector<NetworkView> networks = {TriangleNetwork(), CompleteNetwork(2, 1), CompleteNetwork(6, 10),
                                         Internet2Network()};
    for (const uint64_t seed : {1, 2, 4, 8}) {
      networks.push_back(RandomNetwork(4 + 3 * static_cast<int>(seed), 4, seed));
    }
    return networks;
  }

 private:
  // A chain in order of id on the node at `root`.
  static Tree FirstTwo(const NetworkView& view, size_t root) {
    Tree tree;
    tree.root = view.nodes()[root % view.nodes().size()].id;
    NodeId last = tree.root;
    for (const NetworkNode& node : view.nodes()) {
      if (node.id == tree.root) continue;
      tree.reduce_parent[node.id] = last;
      last = node.id;
    }
    tree.broadcast_parent = tree.reduce_parent;
    return tree;
  }
};

TEST_P(PlannerConformanceTest, PoliciesKeepTheirPromises) {
  for (const NetworkView& view : Networks()) {
    const Policy policy = Planned(view);
    const absl::Status status = ValidatePolicy(policy, view);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(policy.members.size(), view.nodes().size());
    EXPECT_EQ(policy.planner, GetParam().planner);
    EXPECT_EQ(policy.chunk_max_elements, 1234);
  }
}

TEST_P(PlannerConformanceTest, EveryTreeSpansAllNodesOtherRootsToo) {
  for (const NetworkView& view : Networks()) {
    for (const Tree& tree : Planned(view).trees) {
      EXPECT_EQ(tree.reduce_parent.size(), view.nodes().size() - 1);
      EXPECT_EQ(tree.broadcast_parent.size(), view.nodes().size() - 1);
    }
  }
}

TEST_P(PlannerConformanceTest, RatesStayBelowTheBound) {
  for (const NetworkView& view : Networks()) {
    const Policy policy = Planned(view);
    EXPECT_GT(policy.rate_bps, 0);
    EXPECT_LE(policy.rate_bps, policy.bound_bps * (1 + 1e-9));
    EXPECT_EQ(policy.rate_bps, PlanRateBps(policy, view));
    EXPECT_GE(policy.auxiliary_rate_bps, policy.rate_bps);
    EXPECT_LE(policy.auxiliary_rate_bps, policy.bound_bps * (1 + 1e-9));
    EXPECT_EQ(policy.auxiliary.empty() && policy.auxiliary_rate_bps > policy.rate_bps, false);
  }
}

TEST_P(PlannerConformanceTest, AuxiliaryPathsComeWhenAskedFor) {
  for (const NetworkView& view : Networks()) {
    // Two nodes have one link, and no way around it.
    const bool possible = GetParam().auxiliary && view.nodes().size() > 2;
    EXPECT_EQ(Planned(view).auxiliary.empty(), !possible);
  }
}

// Sharing by balance is never slower than sharing by quality, by the rate that it maximises.
TEST_P(PlannerConformanceTest, BalancedSharesAreAsFast) {
  for (const NetworkView& view : Networks()) {
    PlannerConfig config = ConfigFor(view);
    config.shares = ShareRule::kQuality;
    EXPECT_GE(Planned(view).auxiliary_rate_bps * (1 + 1e-3), MakePolicy(view, config)->auxiliary_rate_bps);
  }
}

TEST_P(PlannerConformanceTest, GivenSharesStay) {
  if (GetParam().planner != "custom") return;
  for (const NetworkView& view : Networks()) {
    PlannerConfig config = ConfigFor(view);
    config.trees[0].share = 0.75;
    config.trees[1].share = 0.25;
    const absl::StatusOr<Policy> policy = MakePolicy(view, config);
    ASSERT_TRUE(policy.ok()) << policy.status();
    EXPECT_TRUE(ValidatePolicy(*policy, view).ok()) << ValidatePolicy(*policy, view);
    ASSERT_EQ(policy->trees.size(), 2u);
    EXPECT_EQ(policy->trees[0].share, 0.75);
    EXPECT_EQ(policy->trees[1].share, 0.25);
  }
}

TEST_P(PlannerConformanceTest, TheSameInputGivesTheSamePolicy) {
  for (const NetworkView& view : Networks()) EXPECT_EQ(Planned(view), Planned(view));
}

TEST_P(PlannerConformanceTest, OrderOfLinksDoesNotMatter) {
  const NetworkView view = RandomNetwork(12, 4, 99);
  std::vector<NetworkLink> links(view.links().rbegin(), view.links().rend());
  const NetworkView same = *NetworkView::Create({view.nodes().rbegin(), view.nodes().rend()}, links);
  EXPECT_EQ(Planned(view), Planned(same));
}

TEST_P(PlannerConformanceTest, ALoneNodeIsAPlan) {
  if (GetParam().planner == "custom") return;
  const Policy policy = Planned(SampleNetwork(1, {}));
  ASSERT_EQ(policy.trees.size(), 1u);
  EXPECT_TRUE(policy.trees[0].reduce_parent.empty());
  EXPECT_EQ(policy.trees[0].share, 1);
}

TEST_P(PlannerConformanceTest, RefusesADisconnectedView) {
  const NetworkView one_way = SampleNetwork(3, {{1, 2, 1}, {2, 3, 1}});
  EXPECT_EQ(MakePolicy(one_way, ConfigFor(one_way)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(PlannerConformanceTest, RefusesAnEmptyView) {
  PlannerConfig config;
  config.planner = GetParam().planner;
  EXPECT_EQ(MakePolicy(NetworkView(), config).status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, PlannerConformanceTest, ::testing::ValuesIn(Setups()),
                         [](const ::testing::TestParamInfo<Setup>& info) { return info.param.name; });

TEST(MakePolicyTest, KnowsThePlannersByName) {
  PlannerConfig config;
  for (const std::string& name : PlannerNames()) {
    config.planner = name;
    EXPECT_NE(MakePolicy(TriangleNetwork(), config).status().code(), absl::StatusCode::kNotFound) << name;
  }
  config.planner = "unpacked";
  EXPECT_EQ(MakePolicy(TriangleNetwork(), config).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace banyan
