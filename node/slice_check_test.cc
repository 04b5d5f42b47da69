#include "gtest/gtest.h"
#include "node/policy_table.h"
#include "node/testing/test_scheduler.h"

namespace banyan {
namespace {

// Node 2 of 1 <- 2 <- 3.
PolicySlice Slice() { return TestPlan::Chain(3).Slice(2, JobConfig()); }
bool IsFine(const PolicySlice& slice) { return CheckSlice(slice, NodeId(2)).ok(); }

TEST(SliceCheckTest, TakesWhatMakesSense) {
  EXPECT_EQ(CheckSlice(Slice(), NodeId(2)), absl::OkStatus());
  const TestPlan relayed{3, {{1, {{2, 1}, {3, 1}}, {{2, 1}, {3, 1}}}}, {{1, 2, 3}, {3, 2, 1}}};
  for (uint32_t node : {1, 2, 3}) EXPECT_EQ(CheckSlice(relayed.Slice(node, {}), NodeId(node)), absl::OkStatus());
}

TEST(SliceCheckTest, AWayBackIsNeededForNoHalf) {
  // Node 3 sends its sum to 1 by way of 2; results come from 2.
  const TestPlan plan{3, {{1, {{2, 1}, {3, 1}}, {{2, 1}, {3, 2}}}}, {{3, 2, 1}}};
  for (uint32_t node : {1, 2, 3}) EXPECT_EQ(CheckSlice(plan.Slice(node, {}), NodeId(node)), absl::OkStatus());
  PolicySlice slice = plan.Slice(1, {});
  slice.trees[0].broadcast_children.push_back(NodeId(3));
  EXPECT_FALSE(CheckSlice(slice, NodeId(1)).ok());
}

TEST(SliceCheckTest, RefusesWhatLeadsNowhere) {
  PolicySlice slice = Slice();
  slice.neighbours.pop_back();
  EXPECT_FALSE(IsFine(slice));
  slice = Slice();
  slice.trees[0].broadcast_children.push_back(NodeId(9));
  EXPECT_FALSE(IsFine(slice));
  slice = Slice();
  slice.routes.push_back({{NodeId(3), NodeId(1)}});
  EXPECT_FALSE(IsFine(slice));
}

TEST(SliceCheckTest, RefusesAPlaceThatIsNone) {
  PolicySlice slice = Slice();
  slice.trees[0].root = NodeId(2);
  EXPECT_FALSE(IsFine(slice));
  slice = Slice();
  slice.trees[0].reduce_parent.reset();
  EXPECT_FALSE(IsFine(slice));
  slice = Slice();
  slice.neighbours[0].node = NodeId(2);
  EXPECT_FALSE(IsFine(slice));
  slice = Slice();
  slice.neighbours.push_back(slice.neighbours[0]);
  EXPECT_FALSE(IsFine(slice));
}

TEST(SliceCheckTest, RefusesAuxiliaryPathsThatAreNone) {
  const auto with_auxiliary_path = [](std::vector<NodeId> path) {
    PolicySlice slice = Slice();
    slice.auxiliary.push_back({std::move(path), 1e6, absl::Milliseconds(1)});
    return slice;
  };
  EXPECT_TRUE(IsFine(with_auxiliary_path({NodeId(2), NodeId(3), NodeId(1)})));
  EXPECT_FALSE(IsFine(with_auxiliary_path({NodeId(2), NodeId(1)})));
  EXPECT_FALSE(IsFine(with_auxiliary_path({NodeId(3), NodeId(2), NodeId(1)})));
  EXPECT_FALSE(IsFine(with_auxiliary_path({NodeId(2), NodeId(9), NodeId(1)})));
  EXPECT_FALSE(IsFine(with_auxiliary_path({NodeId(2), NodeId(3), NodeId(2)})));
}

}  // namespace
}  // namespace banyan
