#include "gtest/gtest.h"
#include "node/workers/worker_reports.h"

namespace banyan {
namespace {

Timestamp At(int64_t seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(SynchronisationClockTest, NothingHasEndedAtFirst) {
  SynchronisationClock clock;
  clock.Begin(At(1), 10);
  EXPECT_EQ(clock.last(), NodeReport::Synchronisation{});
}

TEST(SynchronisationClockTest, RoundsThatOverlapAreOne) {
  SynchronisationClock clock;
  clock.Begin(At(1), 10);
  clock.Begin(At(2), 20);
  clock.End(At(3));
  clock.Begin(At(4), 30);
  clock.End(At(5));
  clock.End(At(8));
  EXPECT_EQ(clock.last(), (NodeReport::Synchronisation{1, 60, absl::Seconds(7)}));
}

TEST(SynchronisationClockTest, TheNextBeginsAnew) {
  SynchronisationClock clock;
  clock.Begin(At(1), 10);
  clock.End(At(3));
  clock.Begin(At(10), 10);
  EXPECT_EQ(clock.last(), (NodeReport::Synchronisation{1, 10, absl::Seconds(2)}));
  clock.End(At(15));
  EXPECT_EQ(clock.last(), (NodeReport::Synchronisation{2, 10, absl::Seconds(5)}));
}

}  // namespace
}  // namespace banyan
