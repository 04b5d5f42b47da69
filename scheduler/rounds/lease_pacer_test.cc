#include "scheduler/rounds/lease_pacer.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kLease = absl::Minutes(2);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(LeasePacerTest, WithoutATimeEachRoundIsAskedFor) {
  LeasePacer pacer(absl::ZeroDuration());
  pacer.Measure(At(0), 1);
  pacer.NoteLease(100);
  pacer.NoteOpen(Round(100));
  pacer.Measure(At(10), 1);
  EXPECT_EQ(pacer.length(), 1u);
  EXPECT_EQ(pacer.longest(), 1u);
}

TEST(LeasePacerTest, CoversItsTimeFromTheFirstRoundsOn) {
  LeasePacer pacer(kLease);
  pacer.Measure(At(0), 1);
  pacer.NoteOpen(Round(1));
  pacer.Measure(At(0.1), 1);
  EXPECT_EQ(pacer.length(), LeasePacer::kFirstLease) << "one round tells little";
  pacer.NoteOpen(Round(2));
  pacer.Measure(At(0.2), 1);
  EXPECT_EQ(pacer.length(), 1200u) << "ten rounds a second";
  pacer.NoteOpen(Round(100));
  pacer.Measure(At(1), 1);
  EXPECT_EQ(pacer.length(), 1200u) << "later looks take longer";
  pacer.NoteOpen(Round(82));
  pacer.Measure(At(1.2), 1);
  EXPECT_EQ(pacer.length(), 11760u);
}

TEST(LeasePacerTest, ShrinksWithThePaceButRemembersTheLongest) {
  LeasePacer pacer(kLease);
  pacer.NoteLease(1000);
  pacer.Measure(At(0), 1);
  pacer.NoteOpen(Round(1));
  pacer.Measure(At(1), 1);
  EXPECT_EQ(pacer.length(), 250u);
  pacer.NoteOpen(Round(2));
  pacer.Measure(At(2), 1);
  EXPECT_EQ(pacer.length(), 120u);
  EXPECT_EQ(pacer.longest(), 1000u);
}

TEST(LeasePacerTest, IsTheSameForAllKeysAtATimeAndShorterForMany) {
  LeasePacer pacer(kLease);
  pacer.NoteLease(10000);
  pacer.Measure(At(0), 5000);
  EXPECT_EQ(pacer.length(), LeasePacer::kMostLeasedRounds / 5000);
  pacer.NoteOpen(Round(1));
  pacer.Measure(At(0.5), 5000);
  EXPECT_EQ(pacer.length(), LeasePacer::kMostLeasedRounds / 5000) << "too soon to measure";
  pacer.Measure(At(0.5), 1);
  EXPECT_EQ(pacer.length(), 10000u);
}

}  // namespace
}  // namespace banyan
