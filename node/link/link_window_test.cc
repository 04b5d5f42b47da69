#include "node/link/link_window.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

// 1,000 bytes take 1 ms.
const LinkWindow kWindow = {
    .size_bytes = 20000, .connections = 2, .pace_bps = 9e6, .ack_time = absl::Milliseconds(20), .rate_bps = 8e6};

TEST(LinkWindowTest, AnAckIsExpectedAfterItsTimeAndThatOfTheBytesInFlight) {
  EXPECT_EQ(kWindow.TimeOf(5000), absl::Milliseconds(5));
  EXPECT_EQ(kWindow.AckAfter(0), absl::Milliseconds(20));
  EXPECT_EQ(kWindow.AckAfter(5000), absl::Milliseconds(25));
}

TEST(LinkWindowTest, OfAnUnknownRateNoAckIsExpected) {
  LinkWindow unknown = kWindow;
  unknown.rate_bps = 0;
  EXPECT_EQ(unknown.TimeOf(5000), absl::ZeroDuration());
  EXPECT_EQ(unknown.AckAfter(5000), absl::InfiniteDuration());
  EXPECT_EQ(LinkWindow().pace_bps, kUnpaced);
}

TEST(LinkWindowTest, ThePaceIsThatOfThePoliciesWhileTheLinkIsNoFaster) {
  EXPECT_EQ(PaceAfter(100, 0), 100);
  EXPECT_EQ(PaceAfter(100, 95), 100);
  // Always a little above what is measured.
  EXPECT_DOUBLE_EQ(PaceAfter(100, 100), 105);
  EXPECT_DOUBLE_EQ(PaceAfter(100, 104), 109.2);
}

TEST(LinkWindowTest, AFasterLinkIsNotHeldBack) {
  EXPECT_DOUBLE_EQ(PaceAfter(100, 106), 132.5);
  EXPECT_DOUBLE_EQ(PaceAfter(100, 1000), 1250);
  EXPECT_EQ(PaceAfter(kUnpaced, 1000), kUnpaced);
}

TEST(LinkWindowTest, TheWidestAllowsWhatEitherDoes) {
  LinkWindow other = {
      .size_bytes = 10000, .connections = 4, .pace_bps = kUnpaced, .ack_time = absl::Milliseconds(10), .rate_bps = 4e6};
  const LinkWindow expected = {
      .size_bytes = 20000, .connections = 4, .pace_bps = kUnpaced, .ack_time = absl::Milliseconds(20), .rate_bps = 4e6};
  EXPECT_EQ(Widest(kWindow, other), expected);
  EXPECT_EQ(Widest(other, kWindow), expected);
  EXPECT_EQ(Widest(kWindow, kWindow), kWindow);
  // A rate that one does not know is not known.
  other.rate_bps = 0;
  EXPECT_EQ(Widest(kWindow, other).AckAfter(1), absl::InfiniteDuration());
}

}  // namespace
}  // namespace banyan
