#include "gtest/gtest.h"
#include "scheduler/rounds/job_barriers.h"

namespace banyan {
namespace {

const NodeId kA(1);
const NodeId kB(2);

TEST(BarrierTest, ReleasesWhenAllHaveEntered) {
  Barrier barrier;
  EXPECT_FALSE(barrier.Release({kA, kB})) << "nobody waits in it";
  EXPECT_EQ(barrier.Enter(kA, 0), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.Enter(kA, 0), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.entered(), std::set<NodeId>{kA});
  EXPECT_FALSE(barrier.Release({kA, kB}));
  EXPECT_EQ(barrier.Enter(kB, 1), Barrier::Outcome::kTooFar);
  EXPECT_EQ(barrier.Enter(kB, 0), Barrier::Outcome::kWaiting);
  EXPECT_TRUE(barrier.Release({kA, kB}));
  EXPECT_EQ(barrier.Enter(kB, 0), Barrier::Outcome::kWasBefore);
  EXPECT_EQ(barrier.Enter(kB, 1), Barrier::Outcome::kWaiting);
  EXPECT_EQ(barrier.next(), 1u);
}

TEST(BarrierTest, WhoIsDroppedEntersAgain) {
  Barrier barrier;
  barrier.Enter(kA, 0);
  barrier.Drop(kA);
  barrier.Enter(kB, 0);
  EXPECT_FALSE(barrier.Release({kA, kB}));
  barrier.Enter(kA, 0);
  EXPECT_TRUE(barrier.Release({kA, kB}));
}

TEST(BarrierTest, WithoutAMemberItIsReleasedForTheOthers) {
  Barrier barrier;
  barrier.Enter(kA, 0);
  EXPECT_TRUE(barrier.Release({kA}));
}

TEST(BarrierTest, AJoinerBeginsAfterTheOneThatOthersWaitIn) {
  Barrier barrier(5);
  EXPECT_EQ(barrier.FirstOfJoiner(), 5u);
  barrier.Enter(kA, 5);
  EXPECT_EQ(barrier.FirstOfJoiner(), 6u);
}

TEST(BarrierTest, GoesOnAfterARestart) {
  Barrier barrier(5);
  EXPECT_EQ(barrier.Enter(kA, 4), Barrier::Outcome::kWasBefore);
  EXPECT_EQ(barrier.Enter(kA, 5), Barrier::Outcome::kWaiting);
  EXPECT_TRUE(barrier.Release({kA}));
}

}  // namespace
}  // namespace banyan
