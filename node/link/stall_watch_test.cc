#include "node/link/stall_watch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(20), kSecond(21);
constexpr absl::Duration kLostAfter = absl::Seconds(4);
constexpr absl::Duration kFast = absl::Milliseconds(10);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

class StallWatchTest : public ::testing::Test {
 protected:
  std::vector<ConnectionId> Stalled(int64_t milliseconds, absl::Duration round_trip = kFast) {
    return watch_.FindStalled(At(milliseconds), round_trip);
  }

  StallWatch watch_{kLostAfter, {kFirst, kSecond}};
};

TEST_F(StallWatchTest, AConnectionWithoutAnAckIsStalledAfterItsWait) {
  EXPECT_THAT(Stalled(100000), IsEmpty());
  watch_.OnSent(kFirst, 1, At(0));
  watch_.OnSent(kFirst, 2, At(900));
  EXPECT_EQ(watch_.NextDeadline(kFast), At(800));
  EXPECT_THAT(Stalled(799), IsEmpty());
  EXPECT_THAT(Stalled(800), ElementsAre(kFirst));
}

TEST_F(StallWatchTest, AStalledConnectionThatIsNotMadeAnewIsFoundAgain) {
  EXPECT_EQ(watch_.NextDeadline(kFast), kNever);
  watch_.OnSent(kFirst, 1, At(0));
  EXPECT_THAT(Stalled(1000), ElementsAre(kFirst));
  EXPECT_THAT(Stalled(1199), IsEmpty());
  EXPECT_EQ(watch_.NextDeadline(kFast), At(1200));
  EXPECT_THAT(Stalled(1200), ElementsAre(kFirst));
}

TEST_F(StallWatchTest, TheWaitIsAFewRoundTripsWithinBounds) {
  watch_.OnSent(kFirst, 1, At(0));
  EXPECT_THAT(Stalled(1199, absl::Milliseconds(400)), IsEmpty());
  EXPECT_THAT(Stalled(1200, absl::Milliseconds(400)), ElementsAre(kFirst));
}

TEST_F(StallWatchTest, TheWaitIsAPartOfTheSilenceThatEndsAPeerAtMost) {
  watch_.OnSent(kFirst, 1, At(0));
  EXPECT_THAT(Stalled(1999, absl::Seconds(9)), IsEmpty());
  EXPECT_THAT(Stalled(2000, absl::Seconds(9)), ElementsAre(kFirst));
}

TEST_F(StallWatchTest, AnAckStartsTheWaitAgain) {
  watch_.OnSent(kFirst, 1, At(0));
  watch_.OnSent(kFirst, 2, At(0));
  EXPECT_EQ(watch_.OnAck(1, At(900)), kFirst);
  EXPECT_THAT(Stalled(1699), IsEmpty());
  EXPECT_THAT(Stalled(1700), ElementsAre(kFirst));
  EXPECT_EQ(watch_.OnAck(2, At(1950)), kFirst);
  EXPECT_THAT(Stalled(9000), IsEmpty());
  EXPECT_EQ(watch_.OnAck(2, At(9000)), std::nullopt);
  EXPECT_EQ(watch_.OnAck(77, At(9000)), std::nullopt);
}

TEST_F(StallWatchTest, AnAckAnswersAllThatWentBeforeOnItsConnectionAlone) {
  watch_.OnSent(kFirst, 1, At(0));
  watch_.OnSent(kSecond, 2, At(0));
  watch_.OnSent(kFirst, 3, At(0));
  EXPECT_EQ(watch_.OnAck(3, At(500)), kFirst);
  EXPECT_THAT(Stalled(1200), ElementsAre(kSecond));
  EXPECT_EQ(watch_.OnAck(1, At(1300)), std::nullopt);
}

TEST_F(StallWatchTest, AConnectionThatWasMadeAnewInVainIsWaitedForLonger) {
  watch_.OnSent(kFirst, 1, At(0));
  EXPECT_THAT(Stalled(1000), ElementsAre(kFirst));
  EXPECT_EQ(watch_.OnConnectionDown(kFirst, At(1100)), absl::Milliseconds(1100));
  EXPECT_THAT(Stalled(9000), IsEmpty());
  watch_.OnSent(kFirst, 2, At(2000));
  EXPECT_THAT(Stalled(5199), IsEmpty());
  EXPECT_THAT(Stalled(5200), ElementsAre(kFirst));
  // Any ack of the link ends that.
  watch_.OnConnectionDown(kFirst, At(5300));
  watch_.OnSent(kSecond, 3, At(5400));
  watch_.OnAck(3, At(5400));
  watch_.OnSent(kFirst, 4, At(6000));
  EXPECT_THAT(Stalled(6800), ElementsAre(kFirst));
}

TEST_F(StallWatchTest, ANewWayForAcksMakesWaitsShortAgain) {
  watch_.OnSent(kFirst, 1, At(0));
  Stalled(1000);
  watch_.OnConnectionDown(kFirst, At(1000));
  watch_.OnSent(kFirst, 2, At(1000));
  EXPECT_EQ(watch_.NextDeadline(kFast), At(4200));
  watch_.OnAckWayRenewed();
  EXPECT_EQ(watch_.NextDeadline(kFast), At(1800));
}

TEST_F(StallWatchTest, AConnectionThatWasLostOtherwiseWasNotStalled) {
  watch_.OnSent(kFirst, 1, At(0));
  EXPECT_EQ(watch_.OnConnectionDown(kFirst, At(3000)), absl::ZeroDuration());
  EXPECT_EQ(watch_.OnConnectionDown(ConnectionId(99), At(3000)), absl::ZeroDuration());
}

// Chunk 2 goes out at 1 s, on a connection that was made anew because chunk 1 was not acknowledged.
class BlockedLinkTest : public StallWatchTest {
 protected:
  BlockedLinkTest() {
    watch_.OnSent(kFirst, 1, At(0));
    EXPECT_THAT(Stalled(900), ElementsAre(kFirst));
    watch_.OnConnectionDown(kFirst, At(900));
    watch_.OnSent(kFirst, 2, At(1000));
  }
  bool BecomesBlocked(int64_t now, int64_t answered, int64_t heard_since = 0) {
    return watch_.BecomesBlocked(At(now), {At(answered), At(heard_since)});
  }
};

TEST_F(BlockedLinkTest, ALinkIsBlockedOnceWhenSmallMessagesOvertakeChunks) {
  EXPECT_FALSE(BecomesBlocked(1999, 1900));
  EXPECT_FALSE(BecomesBlocked(2000, 1799));
  EXPECT_TRUE(BecomesBlocked(2000, 1800));
  EXPECT_EQ(watch_.Silence(At(2000)), absl::Seconds(2));
  EXPECT_FALSE(BecomesBlocked(2500, 2400));
  EXPECT_TRUE(watch_.is_blocked());
  watch_.OnAck(2, At(3000));
  EXPECT_FALSE(watch_.is_blocked());
  EXPECT_FALSE(BecomesBlocked(9000, 9000));
}

TEST_F(BlockedLinkTest, AcksMayHaveBeenLostWithTheConnectionThatBroughtThem) {
  EXPECT_FALSE(BecomesBlocked(3000, 2900, 1001));
  EXPECT_TRUE(BecomesBlocked(3000, 2900, 1000));
}

TEST_F(BlockedLinkTest, AStalledConnectionBesideOneThatCarriesBlocksNothing) {
  watch_.OnSent(kSecond, 3, At(2000));
  watch_.OnAck(3, At(2100));
  EXPECT_FALSE(BecomesBlocked(4000, 3900));
}

TEST_F(StallWatchTest, ALinkIsNotBlockedBeforeANewConnectionHasBeenTried) {
  watch_.OnSent(kFirst, 1, At(0));
  Stalled(1000);
  EXPECT_FALSE(watch_.BecomesBlocked(At(9000), {At(8900), At(0)}));
}

TEST_F(StallWatchTest, APauseOfThisProcessIsNobodysSilence) {
  watch_.OnSent(kFirst, 1, At(0));
  watch_.ExcusePause(absl::Seconds(3), At(3500));
  EXPECT_THAT(Stalled(3799), IsEmpty());
  EXPECT_THAT(Stalled(3800), ElementsAre(kFirst));
  watch_.ExcusePause(absl::Hours(1), At(5000));
  EXPECT_EQ(watch_.Silence(At(5000)), absl::ZeroDuration());
}

TEST_F(StallWatchTest, ClearForgetsAll) {
  watch_.OnSent(kFirst, 1, At(0));
  watch_.Clear();
  EXPECT_THAT(Stalled(9000), IsEmpty());
  EXPECT_EQ(watch_.Silence(At(9000)), absl::ZeroDuration());
  EXPECT_EQ(watch_.OnAck(1, At(9000)), std::nullopt);
}

}  // namespace
}  // namespace banyan
