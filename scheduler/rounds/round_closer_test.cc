#include "scheduler/rounds/round_closer.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);

TEST(RoundCloserTest, ClosesWhenAllHaveReportedTheSame) {
  RoundCloser closer;
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(0), 9, 2), RoundCloser::Outcome::kOpen);
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(0), 9, 2), RoundCloser::Outcome::kOpen);
  EXPECT_FALSE(closer.IsClosed(kKey, Round(0)));
  EXPECT_EQ(closer.Report(NodeId(2), kKey, Round(0), 9, 2), RoundCloser::Outcome::kClosed);
  EXPECT_TRUE(closer.IsClosed(kKey, Round(0)));
  EXPECT_EQ(closer.FirstOpen(kKey), Round(1));
  EXPECT_EQ(closer.open_tallies(), 0u);
}

TEST(RoundCloserTest, ClosesRoundsOutOfOrder) {
  RoundCloser closer;
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(1), 9, 1), RoundCloser::Outcome::kClosed);
  EXPECT_EQ(closer.FirstOpen(kKey), Round(0));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(1)));
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(0), 9, 1), RoundCloser::Outcome::kClosed);
  EXPECT_EQ(closer.FirstOpen(kKey), Round(2));
  EXPECT_FALSE(closer.IsClosed(KeyId(2), Round(0)));
}

TEST(RoundCloserTest, TellsUnequalResults) {
  RoundCloser closer;
  closer.Report(NodeId(3), kKey, Round(4), 9, 5);
  EXPECT_EQ(closer.Report(NodeId(2), kKey, Round(4), 8, 5), RoundCloser::Outcome::kDiffers);
  EXPECT_EQ(closer.FirstReportOf(kKey, Round(4)).node, NodeId(3));
  EXPECT_EQ(closer.FirstReportOf(kKey, Round(4)).hash, 9u);
}

TEST(RoundCloserTest, WhoHasNotReadAResultAgreesWithAll) {
  RoundCloser closer;
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(4), 0, 4), RoundCloser::Outcome::kOpen);
  EXPECT_EQ(closer.Report(NodeId(2), kKey, Round(4), 9, 4), RoundCloser::Outcome::kOpen);
  EXPECT_EQ(closer.Report(NodeId(3), kKey, Round(4), 8, 4), RoundCloser::Outcome::kDiffers);
  EXPECT_EQ(closer.FirstReportOf(kKey, Round(4)).node, NodeId(2));
  EXPECT_EQ(closer.Report(NodeId(3), kKey, Round(4), 0, 4), RoundCloser::Outcome::kOpen);
  EXPECT_EQ(closer.Report(NodeId(4), kKey, Round(4), 9, 4), RoundCloser::Outcome::kClosed);
}

TEST(RoundCloserTest, RestoresClosedRounds) {
  RoundCloser closer;
  closer.Restore(kKey, ClosedRounds{Round(2), {Round(3)}});
  EXPECT_EQ(closer.FirstOpen(kKey), Round(2));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(1)));
  EXPECT_FALSE(closer.IsClosed(kKey, Round(2)));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(3)));
  EXPECT_EQ(closer.Report(NodeId(1), kKey, Round(2), 7, 1), RoundCloser::Outcome::kClosed);
  EXPECT_EQ(closer.FirstOpen(kKey), Round(4));
}

}  // namespace
}  // namespace banyan
