#include "scheduler/rounds/barrier.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(BarrierTest, ReleasesWhenAllHaveEntered) {
  Barrier barrier;
  EXPECT_EQ(barrier.Enter(NodeId(1), 0, 2), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.Enter(NodeId(1), 0, 2), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.entered(), std::set<NodeId>{NodeId(1)});
  EXPECT_EQ(barrier.Enter(NodeId(2), 1, 2), Barrier::Outcome::kTooFar);
  EXPECT_EQ(barrier.Enter(NodeId(2), 0, 2), Barrier::Outcome::kReleased);
  EXPECT_EQ(barrier.Enter(NodeId(2), 0, 2), Barrier::Outcome::kWasBefore);
  EXPECT_EQ(barrier.Enter(NodeId(2), 1, 2), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.next(), 1u);
}

TEST(BarrierTest, WhoIsDroppedEntersAgain) {
  Barrier barrier;
  EXPECT_EQ(barrier.Enter(NodeId(1), 0, 2), Barrier::Outcome::kWaiting);
  barrier.Drop(NodeId(1));
  EXPECT_EQ(barrier.Enter(NodeId(2), 0, 2), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.Enter(NodeId(1), 0, 2), Barrier::Outcome::kReleased);
}

TEST(BarrierTest, GoesOnAfterARestart) {
  Barrier barrier(5);
  EXPECT_EQ(barrier.Enter(NodeId(1), 4, 1), Barrier::Outcome::kWasBefore);
  EXPECT_EQ(barrier.Enter(NodeId(1), 5, 1), Barrier::Outcome::kReleased);
}

}  // namespace
}  // namespace banyan
