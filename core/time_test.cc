#include "core/time.h"

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
