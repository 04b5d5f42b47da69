#include "awareness/clock_offset.h"

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr Timestamp kStart = Timestamp::FromNanoseconds(int64_t{50'000'000'000'000});

// Two processes that exchange a message every second; the peer holds it for a while.
class Pair {
 public:
  Pair(absl::Duration offset, double drift, absl::Duration jitter) : offset_(offset), drift_(drift), jitter_(jitter) {}

  void Exchange(int times) {
    for (int i = 0; i < times; ++i) {
      const Timestamp there = now_ + OneWay();
      const Timestamp sent = there + absl::Milliseconds(400);
      const Timestamp back = sent + OneWay();
      EXPECT_TRUE(clock.Add({now_, Peer(there), Peer(sent), back}));
      now_ = now_ + absl::Seconds(1);
    }
  }
  absl::Duration TrueOffset() const { return Peer(now_) - now_; }
  absl::Duration Error() const { return absl::AbsDuration(clock.At(now_)->offset - TrueOffset()); }
  void Restart(absl::Duration offset) { offset_ = offset; }
  void Wait(absl::Duration time) { now_ = now_ + time; }

  ClockOffset clock;
  Timestamp now() const { return now_; }

 private:
  Timestamp Peer(Timestamp time) const {
    return time + offset_ + absl::Seconds(drift_ * absl::ToDoubleSeconds(time - kStart));
  }
  absl::Duration OneWay() {
    return absl::Milliseconds(15) + absl::Nanoseconds(random_.Between(0, absl::ToInt64Nanoseconds(jitter_)));
  }

  absl::Duration offset_;
  double drift_;
  absl::Duration jitter_;
  Random random_{3};
  Timestamp now_ = kStart;
};

TEST(ClockOffsetTest, IsUnknownAtFirst) { EXPECT_FALSE(ClockOffset().At(kStart).has_value()); }

TEST(ClockOffsetTest, FindsOffsetsOfAnySize) {
  for (absl::Duration offset :
       {absl::ZeroDuration(), absl::Milliseconds(50), absl::Milliseconds(-50), absl::Hours(9), absl::Hours(-9)}) {
    for (double drift : {0.0, 200e-6, -200e-6}) {
      Pair pair(offset, drift, absl::Milliseconds(4));
      for (int second = 0; second < 100; ++second) {
        pair.Exchange(1);
        ASSERT_LE(pair.Error(), pair.clock.At(pair.now())->uncertainty) << offset << " " << drift << " " << second;
        ASSERT_LE(pair.Error(), absl::Milliseconds(3)) << offset << " " << drift << " " << second;
        ASSERT_LE(pair.clock.At(pair.now())->uncertainty, absl::Milliseconds(20));
      }
    }
  }
}

TEST(ClockOffsetTest, FollowsDriftWithoutNewExchanges) {
  Pair pair(absl::Hours(1), 150e-6, absl::Milliseconds(1));
  pair.Exchange(40);
  pair.Wait(absl::Seconds(30));  // 4.5 ms of drift
  EXPECT_LE(pair.Error(), absl::Milliseconds(2));
  EXPECT_GE(pair.clock.At(pair.now())->uncertainty, pair.Error());
  pair.Wait(absl::Hours(1));
  EXPECT_GE(pair.clock.At(pair.now())->uncertainty, pair.Error());
}

TEST(ClockOffsetTest, AnotherClockReplacesTheFirst) {
  Pair pair(absl::Milliseconds(50), 0, absl::Milliseconds(1));
  pair.Exchange(40);
  pair.Restart(absl::Hours(-3));
  pair.Exchange(1);
  EXPECT_LE(pair.Error(), absl::Milliseconds(1));
}

TEST(ClockOffsetTest, RefusesTimesThatCannotBe) {
  ClockOffset clock;
  const auto at = [](int64_t milliseconds) { return kStart + absl::Milliseconds(milliseconds); };
  EXPECT_FALSE(clock.Add({at(0), at(500), at(400), at(30)}));  // replied before it came
  EXPECT_FALSE(clock.Add({at(0), at(500), at(600), at(30)}));  // held for longer than it was away
  EXPECT_FALSE(clock.Add({at(30), at(500), at(500), at(0)}));  // back before it went
  EXPECT_FALSE(clock.At(at(0)).has_value());
}

}  // namespace
}  // namespace banyan
