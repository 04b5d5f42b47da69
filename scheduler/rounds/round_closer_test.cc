#include "gtest/gtest.h"
#include "scheduler/rounds/round_book.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);

TEST(RoundCloserTest, ClosesWhenAllHaveReported) {
  RoundCloser closer;
  EXPECT_FALSE(closer.Report(NodeId(1), kKey, Round(0), 2));
  EXPECT_FALSE(closer.Report(NodeId(1), kKey, Round(0), 2));
  EXPECT_FALSE(closer.IsClosed(kKey, Round(0)));
  EXPECT_TRUE(closer.Report(NodeId(2), kKey, Round(0), 2));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(0)));
  EXPECT_EQ(closer.FirstOpen(kKey), Round(1));
  EXPECT_EQ(closer.open_tallies(), 0u);
}

TEST(RoundCloserTest, ClosesRoundsOutOfOrder) {
  RoundCloser closer;
  EXPECT_TRUE(closer.Report(NodeId(1), kKey, Round(1), 1));
  EXPECT_EQ(closer.FirstOpen(kKey), Round(0));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(1)));
  EXPECT_TRUE(closer.Report(NodeId(1), kKey, Round(0), 1));
  EXPECT_EQ(closer.FirstOpen(kKey), Round(2));
  EXPECT_FALSE(closer.IsClosed(KeyId(2), Round(0)));
}

TEST(RoundCloserTest, RestoresClosedRounds) {
  RoundCloser closer;
  closer.Restore(kKey, ClosedRounds{Round(2), {Round(3)}});
  EXPECT_EQ(closer.FirstOpen(kKey), Round(2));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(1)));
  EXPECT_FALSE(closer.IsClosed(kKey, Round(2)));
  EXPECT_TRUE(closer.IsClosed(kKey, Round(3)));
  EXPECT_TRUE(closer.Report(NodeId(1), kKey, Round(2), 1));
  EXPECT_EQ(closer.FirstOpen(kKey), Round(4));
}

}  // namespace
}  // namespace banyan
