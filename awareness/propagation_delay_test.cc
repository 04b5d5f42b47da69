#include "awareness/propagation_delay.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kAhead = absl::Hours(5);  // the other clock

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(PropagationDelayTest, KnowsNothingUntilMessagesCameBothWays) {
  PropagationDelay delay(absl::Seconds(30));
  EXPECT_EQ(delay.least(), std::nullopt);
  delay.AddThere(At(1), kAhead + absl::Milliseconds(15));
  EXPECT_EQ(delay.least(), std::nullopt);
  delay.AddBack(At(2), absl::Milliseconds(15) - kAhead);
  EXPECT_EQ(delay.least(), absl::Milliseconds(15));
}

TEST(PropagationDelayTest, TakesTheLeastOfEachWay) {
  PropagationDelay delay(absl::Seconds(30));
  delay.AddThere(At(1), kAhead + absl::Milliseconds(15));
  delay.AddBack(At(1), absl::Milliseconds(40) - kAhead);
  delay.AddThere(At(2), kAhead + absl::Milliseconds(90));
  delay.AddBack(At(2), absl::Milliseconds(15) - kAhead);
  EXPECT_EQ(delay.least(), absl::Milliseconds(15)) << "no message there and back took less than 55 ms";
}

TEST(PropagationDelayTest, WaysOfDifferentTimesSayNothingOfClocksThatPart) {
  PropagationDelay delay(absl::Hours(3));
  for (int second = 1; second < 3600; second += 2) {
    const absl::Duration ahead = kAhead + absl::Microseconds(200) * second;
    delay.AddThere(At(second), ahead + absl::Milliseconds(15));
    delay.AddBack(At(second + 1), absl::Milliseconds(15) - ahead);
  }
  EXPECT_NEAR(absl::ToDoubleMilliseconds(*delay.least()), 15, 0.3);
}

TEST(PropagationDelayTest, AClockThatIsSetMakesNoDelayNegative) {
  PropagationDelay delay(absl::Seconds(30));
  delay.AddThere(At(1), kAhead + absl::Milliseconds(15));
  delay.AddBack(At(2), absl::Milliseconds(15) - kAhead - absl::Hours(1));
  EXPECT_EQ(delay.least(), std::nullopt);
}

}  // namespace
}  // namespace banyan
