#include "node/peers/heartbeats.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);
constexpr absl::Duration kLostAfter = absl::Seconds(5);

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1'000'000'000); }

TEST(HeartbeatsTest, ANeighbourIsLostOnceAndAfterMoreThanTheBound) {
  Heartbeats heartbeats(At(0));
  heartbeats.OnHeard(At(1));
  EXPECT_FALSE(heartbeats.BecomesLost(At(6), kLostAfter));
  EXPECT_TRUE(heartbeats.BecomesLost(At(7), kLostAfter));
  EXPECT_FALSE(heartbeats.BecomesLost(At(8), kLostAfter));
  EXPECT_TRUE(heartbeats.is_lost());
  // It is there again, and may be lost again.
  heartbeats.OnHeard(At(9));
  EXPECT_FALSE(heartbeats.is_lost());
  EXPECT_FALSE(heartbeats.BecomesLost(At(14), kLostAfter));
  EXPECT_TRUE(heartbeats.BecomesLost(At(20), kLostAfter));
}

TEST(HeartbeatsTest, APauseOfThisProcessIsNotTheNeighboursSilence) {
  Heartbeats heartbeats(At(0));
  heartbeats.ExcusePause(absl::Seconds(99), At(100));
  EXPECT_FALSE(heartbeats.BecomesLost(At(104), kLostAfter));
  EXPECT_TRUE(heartbeats.BecomesLost(At(105), kLostAfter));
}

TEST(HeartbeatsTest, APauseIsExcusedUpToNowAndNotBeyond) {
  Heartbeats heartbeats(At(0));
  heartbeats.ExcusePause(absl::Seconds(1000), At(100));
  EXPECT_TRUE(heartbeats.BecomesLost(At(106), kLostAfter));
}

TEST(HeartbeatsTest, OneIsDuePerInterval) {
  Heartbeats heartbeats(At(0));
  EXPECT_FALSE(heartbeats.TakeDue(At(0) + absl::Milliseconds(999), kInterval).has_value());
  EXPECT_EQ(heartbeats.TakeDue(At(1), kInterval), (PeerHeartbeat{At(1), std::nullopt}));
  EXPECT_FALSE(heartbeats.TakeDue(At(1), kInterval).has_value());
  EXPECT_TRUE(heartbeats.TakeDue(At(2), kInterval).has_value());
}

TEST(HeartbeatsTest, WhatIsNotEchoedIsCountedFromTheFirst) {
  Heartbeats heartbeats(At(0));
  EXPECT_EQ(heartbeats.UnechoedFor(At(9)), absl::ZeroDuration());
  heartbeats.TakeDue(At(1), kInterval);
  heartbeats.TakeDue(At(2), kInterval);
  heartbeats.OnHeard(At(3));
  heartbeats.OnHeartbeat({At(70), std::nullopt}, At(3));
  EXPECT_EQ(heartbeats.UnechoedFor(At(3)), absl::Seconds(2));
  EXPECT_EQ(heartbeats.echoed(), Timestamp());
  heartbeats.OnHeartbeat({At(71), PeerHeartbeat::Echo{At(2), At(70)}}, At(4));
  EXPECT_EQ(heartbeats.UnechoedFor(At(9)), absl::ZeroDuration());
  EXPECT_EQ(heartbeats.echoed(), At(2));
}

TEST(HeartbeatsTest, AnOldEchoAnswersNothing) {
  Heartbeats heartbeats(At(0));
  heartbeats.TakeDue(At(5), kInterval);
  heartbeats.OnHeartbeat({At(70), PeerHeartbeat::Echo{At(4), At(69)}}, At(6));
  EXPECT_EQ(heartbeats.UnechoedFor(At(6)), absl::Seconds(1));
}

TEST(HeartbeatsTest, ANewConnectionAndAPauseStartTheCountAnew) {
  Heartbeats heartbeats(At(0));
  heartbeats.TakeDue(At(1), kInterval);
  heartbeats.OnConnectionUp();
  EXPECT_EQ(heartbeats.UnechoedFor(At(3)), absl::ZeroDuration());
  heartbeats.TakeDue(At(4), kInterval);
  heartbeats.ExcusePause(absl::Seconds(9), At(20));
  EXPECT_EQ(heartbeats.UnechoedFor(At(20)), absl::ZeroDuration());
}

TEST(HeartbeatsTest, ANeighbourThatIsHeardAndEchoesNothingIsLostOnce) {
  Heartbeats heartbeats(At(0));
  heartbeats.TakeDue(At(1), kInterval);
  for (int64_t second = 1; second <= 8; ++second) {
    heartbeats.OnHeard(At(second));
    heartbeats.OnConnectionUp();
    EXPECT_FALSE(heartbeats.BecomesLost(At(second), kLostAfter)) << second;
  }
  heartbeats.OnHeard(At(9));
  EXPECT_TRUE(heartbeats.BecomesLost(At(9), kLostAfter));
  heartbeats.OnHeard(At(10));
  EXPECT_FALSE(heartbeats.BecomesLost(At(10), kLostAfter));
  EXPECT_TRUE(heartbeats.is_lost());
  heartbeats.OnHeartbeat({At(70), PeerHeartbeat::Echo{At(1), At(69)}}, At(11));
  EXPECT_FALSE(heartbeats.is_lost());
  EXPECT_FALSE(heartbeats.BecomesLost(At(11), kLostAfter));
}

TEST(HeartbeatsTest, WhoIsForgivenIsNotLost) {
  Heartbeats heartbeats(At(0));
  heartbeats.TakeDue(At(1), kInterval);
  EXPECT_TRUE(heartbeats.BecomesLost(At(50), kLostAfter));
  heartbeats.Forgive(At(50));
  EXPECT_FALSE(heartbeats.is_lost());
  EXPECT_FALSE(heartbeats.BecomesLost(At(55), kLostAfter));
}

TEST(HeartbeatsTest, TheNewestHeartbeatIsEchoedOnce) {
  Heartbeats heartbeats(At(0));
  heartbeats.OnHeartbeat({At(70), std::nullopt}, At(1));
  heartbeats.OnHeartbeat({At(71), std::nullopt}, At(2));
  EXPECT_EQ(heartbeats.TakeDue(At(3), kInterval), (PeerHeartbeat{At(3), PeerHeartbeat::Echo{At(71), At(2)}}));
  EXPECT_EQ(heartbeats.TakeDue(At(4), kInterval), (PeerHeartbeat{At(4), std::nullopt}));
}

}  // namespace
}  // namespace banyan
