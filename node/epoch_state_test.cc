#include "node/epoch_state.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

EpochPlan PlanOf(uint64_t epoch, uint64_t first_open) {
  EpochPlan plan;
  plan.epoch = Epoch(epoch);
  plan.frontiers = {{KeyId(1), KeyId(1), Round(first_open)}};
  return plan;
}

TEST(EpochStateTest, EachBeginningAndEachPlanCountsOnce) {
  EpochState epochs;
  EXPECT_TRUE(epochs.is_first());
  EXPECT_TRUE(epochs.Begin(Epoch(1)));
  epochs.OnPolicy(Epoch(1));
  EXPECT_FALSE(epochs.is_changing());
  EXPECT_TRUE(epochs.Begin(Epoch(3)));
  EXPECT_FALSE(epochs.Begin(Epoch(3)));
  EXPECT_FALSE(epochs.Begin(Epoch(2)));
  EXPECT_TRUE(epochs.is_changing());
  EXPECT_FALSE(epochs.TakePlan(Epoch(2)));
  EXPECT_TRUE(epochs.TakePlan(Epoch(3)));
  EXPECT_FALSE(epochs.TakePlan(Epoch(3)));
  EXPECT_FALSE(epochs.is_changing());
  EXPECT_EQ(epochs.begun(), Epoch(3));
}

TEST(EpochStateTest, APlanOfSeveralMessagesCountsWhenAllHaveCome) {
  EpochState epochs;
  const auto part = [](uint64_t epoch, uint32_t number, bool has_more) {
    EpochPlan plan;
    plan.epoch = Epoch(epoch);
    plan.part = number;
    plan.has_more = has_more;
    plan.frontiers = {{KeyId(number + 1), KeyId(number + 1), Round(5)}};
    plan.bindings = {{KeyId(number + 1), KeyId(number + 1), Round(5), Round(6), Attempt(1), 10}};
    return plan;
  };
  for (const uint32_t number : {0, 1}) EXPECT_EQ(*epochs.Join(part(2, number, true)), std::nullopt);
  // The connection was lost, and all is said again.
  for (const uint32_t number : {0, 1}) EXPECT_EQ(*epochs.Join(part(2, number, true)), std::nullopt);
  const std::optional<EpochPlan> plan = *epochs.Join(part(2, 2, false));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->frontiers.size(), 3u);
  EXPECT_EQ(plan->bindings.size(), 3u);
  EXPECT_TRUE(epochs.Join(part(3, 0, false))->has_value());
}

TEST(EpochStateTest, APartThatFollowsNoOtherIsNoPlan) {
  EpochState epochs;
  EpochPlan part = PlanOf(2, 5);
  part.has_more = true;
  EXPECT_TRUE(epochs.Join(part).ok());
  part.part = 2;
  part.has_more = false;
  EXPECT_FALSE(epochs.Join(part).ok());
  part.part = 1;
  EXPECT_FALSE(epochs.Join(part).ok()) << "the first part is forgotten";
}

TEST(EpochStateTest, AMemberFromTheStartIsNotFresh) {
  EpochState epochs;
  epochs.Begin(Epoch(1));
  epochs.OnPolicy(Epoch(1));
  epochs.Begin(Epoch(2));
  EXPECT_TRUE(epochs.was_member());
  EXPECT_FALSE(epochs.IsFreshUnder(PlanOf(2, 7)));
}

TEST(EpochStateTest, WhoIsLetIntoARunningJobIsFreshOnce) {
  EpochState epochs;
  epochs.Begin(Epoch(5));
  epochs.OnPolicy(Epoch(5));
  EXPECT_FALSE(epochs.was_member());
  EXPECT_TRUE(epochs.IsFreshUnder(PlanOf(5, 7)));
  EXPECT_FALSE(epochs.IsFreshUnder(PlanOf(5, 0))) << "no round has run";
  EXPECT_TRUE(epochs.TakePlan(Epoch(5)));
  epochs.Begin(Epoch(6));
  EXPECT_TRUE(epochs.was_member());
  EXPECT_FALSE(epochs.IsFreshUnder(PlanOf(6, 7)));
}

// A node that joins while membership changes is sent the policies in force, which may name a former start of it.
TEST(EpochStateTest, APolicyOfAFormerEpochMakesNobodyAMember) {
  for (const bool has_heard_of_the_change : {true, false}) {
    EpochState epochs;
    epochs.OnMembership(Epoch(4));
    if (has_heard_of_the_change) epochs.Begin(Epoch(3));
    epochs.Begin(Epoch(1));
    epochs.OnPolicy(Epoch(1));
    epochs.Begin(Epoch(4));
    EXPECT_FALSE(epochs.was_member());
    epochs.OnPolicy(Epoch(4));
    EXPECT_TRUE(epochs.IsFreshUnder(PlanOf(4, 7)));
  }
}

}  // namespace
}  // namespace banyan
