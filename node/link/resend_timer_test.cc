#include "node/link/resend_timer.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kResendAfter = absl::Seconds(2);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

TEST(ResendTimerTest, WaitsFromTheOldestChunkOrFromTheLastAck) {
  ResendTimer timer(kResendAfter);
  EXPECT_EQ(timer.Deadline(At(100)), At(2100));
  timer.OnAck(absl::Milliseconds(10), At(150));
  EXPECT_EQ(timer.WaitsSince(At(100)), At(150));
  EXPECT_EQ(timer.Deadline(At(100)), At(2150));
  EXPECT_EQ(timer.WaitsSince(At(200)), At(200));
  EXPECT_EQ(timer.Deadline(At(200)), At(2200));
}

TEST(ResendTimerTest, TheWaitIsSeveralTimesTheSlowestAckWhereThatIsMore) {
  ResendTimer timer(kResendAfter);
  const absl::Duration enough = kResendAfter / ResendTimer::kOverdueFactor;
  timer.OnAck(enough, At(0));
  EXPECT_EQ(timer.Timeout(), kResendAfter);
  timer.OnAck(enough + absl::Milliseconds(100), At(0));
  EXPECT_EQ(timer.Timeout(), kResendAfter + ResendTimer::kOverdueFactor * absl::Milliseconds(100));
}

TEST(ResendTimerTest, ASlowAckIsForgottenAfterAFewDozenFastOnes) {
  ResendTimer timer(kResendAfter);
  timer.OnAck(absl::Seconds(5), At(0));
  EXPECT_EQ(timer.Timeout(), absl::Seconds(20));
  absl::Duration last = timer.Timeout();
  for (int ack = 1; ack <= 10; ++ack) {
    timer.OnAck(absl::Milliseconds(1), At(ack));
    EXPECT_LT(timer.Timeout(), last);
    last = timer.Timeout();
  }
  EXPECT_GT(last, kResendAfter);
  for (int ack = 11; ack <= 50; ++ack) timer.OnAck(absl::Milliseconds(1), At(ack));
  EXPECT_EQ(timer.Timeout(), kResendAfter);
}

TEST(ResendTimerTest, EachTimeoutDoublesTheWaitUpToALimit) {
  ResendTimer timer(kResendAfter);
  absl::Duration expected = kResendAfter;
  for (int timeout = 1; timeout <= ResendTimer::kMostDoublings; ++timeout) {
    timer.OnTimeout(At(timeout));
    expected *= 2;
    EXPECT_EQ(timer.Timeout(), expected);
    EXPECT_EQ(timer.WaitsSince(At(0)), At(timeout));
  }
  for (int timeout = 0; timeout < 100; ++timeout) timer.OnTimeout(At(1000));
  EXPECT_EQ(timer.Timeout(), expected);
}

TEST(ResendTimerTest, AnAckEndsTheDoubling) {
  ResendTimer timer(kResendAfter);
  timer.OnTimeout(At(2000));
  timer.OnTimeout(At(6000));
  timer.OnAck(absl::Milliseconds(20), At(6100));
  EXPECT_EQ(timer.Timeout(), kResendAfter);
  EXPECT_EQ(timer.Deadline(At(6050)), At(8100));
}

}  // namespace
}  // namespace banyan
