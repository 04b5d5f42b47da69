#include "node/workers/worker_roster.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);

TEST(WorkerRosterTest, WorkersAreAwaitedUntilTheyHaveGone) {
  WorkerRoster roster(2);
  EXPECT_TRUE(roster.IsAwaited(kFirst));
  EXPECT_TRUE(roster.HasAbsent());
  ASSERT_TRUE(roster.Attach(kFirst).ok());
  ASSERT_TRUE(roster.Attach(kSecond).ok());
  EXPECT_FALSE(roster.HasAbsent());
  EXPECT_EQ(roster.attached(), 2u);
  roster.Detach(kFirst, /*is_clean=*/true);
  EXPECT_FALSE(roster.IsAttached(kFirst));
  EXPECT_FALSE(roster.IsAwaited(kFirst));
  EXPECT_TRUE(roster.HasAwaited());
  EXPECT_FALSE(roster.HasDead());
  roster.Detach(kSecond, /*is_clean=*/false);
  EXPECT_FALSE(roster.HasAwaited());
  EXPECT_TRUE(roster.HasDead());
}

TEST(WorkerRosterTest, OnlyADeadOneMayComeBack) {
  WorkerRoster roster(2);
  ASSERT_TRUE(roster.Attach(kFirst).ok());
  EXPECT_EQ(roster.Attach(kFirst).code(), absl::StatusCode::kAlreadyExists);
  roster.Detach(kFirst, /*is_clean=*/false);
  EXPECT_TRUE(roster.Attach(kFirst).ok());
  roster.Detach(kFirst, /*is_clean=*/true);
  EXPECT_EQ(roster.Attach(kFirst).code(), absl::StatusCode::kUnavailable);
}

TEST(WorkerRosterTest, WhoComesTwiceIsToldWhichAreFree) {
  WorkerRoster roster(3);
  ASSERT_TRUE(roster.Attach(kFirst).ok());
  EXPECT_EQ(roster.Attach(kFirst).message(), "worker 0 is attached already; free: worker 1, 2");
  ASSERT_TRUE(roster.Attach(kSecond).ok());
  ASSERT_TRUE(roster.Attach(WorkerId(2)).ok());
  roster.Detach(WorkerId(2), /*is_clean=*/true);
  EXPECT_EQ(roster.Attach(kFirst).message(), "worker 0 is attached already; no other one is free");
}

TEST(WorkerRosterTest, AWorkerThatTheNodeDoesNotHaveIsRefused) {
  WorkerRoster roster(2);
  const absl::Status refused = roster.Attach(WorkerId(2));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "worker 2 attached, but this node has workers 0 to 1; raise `nodes.workers` in overlay.yaml for more");
  EXPECT_FALSE(roster.IsAttached(WorkerId(2)));
}

}  // namespace
}  // namespace banyan
