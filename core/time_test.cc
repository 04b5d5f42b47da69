#include "core/time.h"

#include <cstdint>
#include <limits>
#include <sstream>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TimestampTest, AddsAndSubtractsDurations) {
  const Timestamp start = Timestamp::FromNanoseconds(1'000'000'000);
  EXPECT_EQ((start + absl::Milliseconds(5)).nanoseconds(), 1'005'000'000);
  EXPECT_EQ((start + absl::Milliseconds(5)) - start, absl::Milliseconds(5));
  EXPECT_EQ(start - (start + absl::Seconds(2)), absl::Seconds(-2));
}

TEST(TimestampTest, AnInfiniteDelayIsNever) { EXPECT_EQ(Timestamp() + absl::InfiniteDuration(), kNever); }

TEST(TimestampTest, ADelayBeyondTheClockIsNever) {
  const absl::Duration four_centuries = absl::Hours(24 * 365) * 400;
  EXPECT_EQ(Timestamp() + four_centuries, kNever);
  EXPECT_EQ(Timestamp::FromNanoseconds(1'000'000'000) + absl::Nanoseconds(kNever.nanoseconds()), kNever);
  EXPECT_EQ(Timestamp::FromNanoseconds(1) + four_centuries, kNever);
  EXPECT_EQ(kNever + absl::Seconds(1), kNever);
  EXPECT_LT(kNever + absl::Seconds(-1), kNever);
}

TEST(TimestampTest, ADelayBeforeTheClockIsItsBeginning) {
  const Timestamp earliest = Timestamp::FromNanoseconds(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Timestamp() + -absl::InfiniteDuration(), earliest);
  EXPECT_EQ(earliest + absl::Seconds(-1), earliest);
}

TEST(TimestampTest, ADifferenceOfDistantTimesKeepsItsSign) {
  const Timestamp before = Timestamp::FromNanoseconds(-5);
  EXPECT_GT(kNever - before, absl::Hours(24 * 365) * 290);
  EXPECT_LT(before - kNever, -absl::Hours(24 * 365) * 290);
}

TEST(TimestampTest, NeverIsAfterEverything) {
  EXPECT_LT(Timestamp::FromNanoseconds(int64_t{1} << 62), kNever);
  EXPECT_EQ(kNever, kNever);
}

TEST(TimestampTest, DefaultIsTheStartOfTheClock) { EXPECT_EQ(Timestamp().nanoseconds(), 0); }

TEST(TimestampTest, PrintsNanoseconds) {
  std::ostringstream out;
  out << Timestamp::FromNanoseconds(42);
  EXPECT_EQ(out.str(), "42ns");
}

}  // namespace
}  // namespace banyan
