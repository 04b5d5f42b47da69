#include "node/trim/round_pace.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint32_t kPlaces = 10;

class RoundPaceTest : public ::testing::Test {
 protected:
  static Timestamp At(double seconds) { return Timestamp::FromNanoseconds(0) + absl::Seconds(seconds); }
  // A round that begins now, whose last key is complete after that many seconds.
  void RunRound(double seconds) {
    for (uint32_t place = 0; place < kPlaces; ++place) pace_.OnChunk(Round(round_), place, At(now_));
    pace_.OnComplete(Round(round_), At(now_ + seconds / 2));
    pace_.OnComplete(Round(round_), At(now_ + seconds));
    now_ += seconds + 1;
    ++round_;
  }
  // The round's first chunk leaves now.
  void Begin() { pace_.OnChunk(Round(round_), 0, At(now_)); }
  double DueAfter(uint32_t place) const {
    const auto due = pace_.DueOf(Round(round_), place);
    return due.has_value() ? absl::ToDoubleSeconds(due->at - At(now_)) : -1;
  }

  RoundPace pace_;
  double now_ = 100;
  uint64_t round_ = 1;
};

TEST_F(RoundPaceTest, NothingIsDueBeforeSomeRoundsHaveEnded) {
  for (int i = 0; i < 3; ++i) RunRound(4);
  Begin();
  EXPECT_EQ(DueAfter(0), -1);
  RunRound(4);
  Begin();
  EXPECT_NEAR(DueAfter(0), 0.4, 1e-9);
  EXPECT_NEAR(DueAfter(kPlaces - 1), 4, 1e-9);
  EXPECT_NEAR(absl::ToDoubleSeconds(pace_.DueOf(Round(round_), 0)->slack), 0.4, 1e-9);
}

TEST_F(RoundPaceTest, ARoundEndsWithItsLastPlace) {
  for (int i = 0; i < 4; ++i) RunRound(4);
  EXPECT_FALSE(pace_.EndOf(Round(round_)).has_value()) << "it has not begun";
  Begin();
  EXPECT_EQ(pace_.EndOf(Round(round_))->at, pace_.DueOf(Round(round_), kPlaces - 1)->at);
}

TEST_F(RoundPaceTest, RoundsThatWereSlowTellLittle) {
  for (int i = 0; i < 6; ++i) RunRound(4);
  for (int i = 0; i < 10; ++i) RunRound(40);
  Begin();
  EXPECT_NEAR(DueAfter(kPlaces - 1), 4, 1e-9);
}

TEST_F(RoundPaceTest, OldRoundsAreForgotten) {
  for (int i = 0; i < 6; ++i) RunRound(4);
  for (int i = 0; i < 16; ++i) RunRound(40);
  Begin();
  EXPECT_NEAR(DueAfter(kPlaces - 1), 40, 1e-9);
}

TEST_F(RoundPaceTest, RoundsThatWereGivenUpTellNothing) {
  for (int i = 0; i < 4; ++i) RunRound(4);
  Begin();
  ++round_;
  now_ += 1000;
  Begin();
  EXPECT_NEAR(DueAfter(kPlaces - 1), 4, 1e-9);
  EXPECT_FALSE(pace_.DueOf(Round(round_ + 1), 0).has_value()) << "it has not begun";
}

}  // namespace
}  // namespace banyan
