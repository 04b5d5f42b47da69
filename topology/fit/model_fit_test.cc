// What PlanForModel does, by MakePolicy, which calls it.
#include "topology/fit/model_fit.h"

#include <atomic>
#include <cstdint>
#include <iterator>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "topology/evaluation/round_time.h"
#include "topology/planner.h"
#include "topology/planner_factory.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

constexpr uint64_t kDraws = 4;
constexpr int64_t kModelElements[] = {2'500'000, 11'500'000};

// Times what the bound allows, over drawn full meshes of nine. Trees that were not grown at a selection's prices
// (topology/packing/packed_trees.h) take 1.43.
constexpr double kGood = 1.33;

PlannerConfig Packed() {
  PlannerConfig config;
  config.planner = "packed";
  return config;
}

double MeanTimes(bool begins_with_trees) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    for (const int64_t elements : kModelElements) {
      PlannerConfig config = Packed();
      if (begins_with_trees) config.current_trees = MakePolicy(view, config)->trees;
      config.tensors = {elements};
      const Policy policy = *MakePolicy(view, config);
      const double bits = kBitsPerElement * static_cast<double>(elements);
      sum += absl::ToDoubleSeconds(policy.round_time) * policy.bound_bps / bits;
    }
  }
  return sum / (kDraws * std::size(kModelElements));
}

TEST(ModelFitTest, RoundsOnMeshesAreNotFarFromTheBound) { EXPECT_LT(MeanTimes(false), kGood); }

// A job begins with a plan for no model, and plans again from these trees when it knows the model.
TEST(ModelFitTest, TreesInUseDoNotMakeThePlanWorse) { EXPECT_LT(MeanTimes(true), kGood); }

// Where few bits of the model travel, delays count for more, and larger chunks fill pipelines as soon.
TEST(ModelFitTest, PlansForTheBitsThatTravel) {
  constexpr double kSentPart = 1.0 / 16;
  double for_sent = 0, for_floats = 0;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    PlannerConfig config = Packed();
    config.tensors = {2'500'000};
    const Policy of_floats = *MakePolicy(view, config);
    config.sent_part = kSentPart;
    const Policy of_sent = *MakePolicy(view, config);
    EXPECT_LT(of_sent.round_time, of_floats.round_time);
    for_sent += absl::ToDoubleSeconds(of_sent.round_time);
    for_floats += absl::ToDoubleSeconds(PredictRoundTime(of_floats, view, config.tensors, kSentPart));
  }
  EXPECT_LT(for_sent, 0.97 * for_floats);
}

// The trees gave up a part of the rate for fewer hops: chunks do not take more of them to get that part back.
TEST(ModelFitTest, PlansNoPartForAuxiliaryPaths) {
  PlannerConfig config = Packed();
  config.auxiliary = true;
  config.tensors = {11'500'000};
  const Policy policy = *MakePolicy(RandomNetwork(9, 8, 1), config);
  ASSERT_FALSE(policy.auxiliary.empty());
  for (const Route& auxiliary_path : policy.auxiliary) EXPECT_EQ(auxiliary_path.share, 0);
  EXPECT_EQ(policy.auxiliary_rate_bps, policy.rate_bps);
}

NetworkView Without(const NetworkView& view, NodeId gone) {
  std::vector<NodeId> left;
  for (const NetworkNode& node : view.nodes()) {
    if (node.id != gone) left.push_back(node.id);
  }
  return *view.Restrict(left);
}

TEST(PlanInHasteTest, IsNotFarFromTheBestWhereANodeIsGone) {
  double in_haste = 0, best = 0;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    const NetworkView view = RandomNetwork(9, 8, seed);
    PlannerConfig config = Packed();
    config.tensors = {2'500'000};
    config.current_trees = MakePolicy(view, config)->trees;
    const NetworkView smaller = Without(view, NodeId(static_cast<uint32_t>(seed)));
    config.in_haste = true;
    const absl::StatusOr<Policy> hasty = MakePolicy(smaller, config);
    ASSERT_TRUE(hasty.ok()) << hasty.status();
    EXPECT_EQ(hasty->members.size(), 8u);
    in_haste += absl::ToDoubleSeconds(hasty->round_time);
    config.in_haste = false;
    best += absl::ToDoubleSeconds(MakePolicy(smaller, config)->round_time);
  }
  EXPECT_LT(in_haste, 1.7 * best);
}

TEST(PlanInHasteTest, NeedsNeitherTreesNorAModel) {
  const NetworkView view = RandomNetwork(9, 8, 1);
  PlannerConfig config = Packed();
  config.in_haste = true;
  const absl::StatusOr<Policy> of_links = MakePolicy(view, config);
  ASSERT_TRUE(of_links.ok()) << of_links.status();
  config.in_haste = false;
  config.current_trees = MakePolicy(view, config)->trees;
  config.in_haste = true;
  EXPECT_GT(MakePolicy(view, config)->rate_bps, of_links->rate_bps) << "the trees in use are better than FAPT's";
}

TEST(ModelFitTest, EndsWithAnErrorWhenNobodyWantsThePlan) {
  const std::atomic<bool> unwanted = true;
  PlannerConfig config = Packed();
  config.unwanted = &unwanted;
  EXPECT_TRUE(absl::IsCancelled(MakePolicy(RandomNetwork(9, 8, 1), config).status()));
  config.tensors = {2'500'000};
  EXPECT_TRUE(absl::IsCancelled(MakePolicy(RandomNetwork(9, 8, 1), config).status()));
}

}  // namespace
}  // namespace banyan
