#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/epochs/epoch_changer.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(ChangeCausesTest, CausesOfOneMomentAreOneChange) {
  ChangeCauses causes;
  EXPECT_EQ(causes.NextDeadline(), kNever);
  causes.FallOut(Timestamp(), NodeId(2), "b is gone");
  causes.FallOut(Timestamp() + kMembershipBatch / 2, NodeId(2), "b is gone indeed");
  causes.Add(Timestamp() + kMembershipBatch / 2, "c joins");
  causes.Add(Timestamp() + kMembershipBatch / 2, "c joins");
  EXPECT_TRUE(causes.IsFalling(NodeId(2)));
  EXPECT_FALSE(causes.Take(Timestamp() + kMembershipBatch / 2).has_value());
  const auto taken = causes.Take(Timestamp() + kMembershipBatch);
  ASSERT_TRUE(taken.has_value());
  EXPECT_THAT(taken->fallen, ElementsAre(NodeId(2)));
  EXPECT_EQ(taken->Describe(), "b is gone; c joins");
  EXPECT_EQ(taken->since, Timestamp());
  EXPECT_EQ(causes.NextDeadline(), kNever);
}

TEST(ChangeCausesTest, WhoIsMissedAndReturnsInTimeStays) {
  ChangeCauses causes;
  causes.Return(NodeId(1));
  causes.Miss(Timestamp(), NodeId(1), "the connection of a went down");
  causes.Return(NodeId(1));
  EXPECT_FALSE(causes.IsFalling(NodeId(1)));
  EXPECT_EQ(causes.NextDeadline(), kNever);
  causes.Miss(Timestamp(), NodeId(1), "the connection of a went down");
  causes.Miss(Timestamp(), NodeId(2), "the connection of b went down");
  causes.FallOut(Timestamp(), NodeId(2), "b was removed");
  causes.FallOut(Timestamp(), NodeId(3), "c has been restarted");
  for (uint32_t node : {1, 2, 3}) causes.Return(NodeId(node));
  const auto taken = causes.Take(Timestamp() + kMembershipBatch);
  ASSERT_TRUE(taken.has_value());
  EXPECT_THAT(taken->fallen, ElementsAre(NodeId(2), NodeId(3)));
  EXPECT_EQ(taken->Describe(), "the connection of b went down; c has been restarted");
}

TEST(ChangeCausesTest, ManyAreToldInFewWords) {
  ChangeCauses causes;
  for (int node = 0; node < 10; ++node) causes.Add(Timestamp(), absl::StrCat("n", node));
  EXPECT_EQ(causes.Take(Timestamp() + kMembershipBatch)->Describe(), "n0; n1; n2; n3; n4; n5; n6; n7; and 2 more");
}

}  // namespace
}  // namespace banyan
