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

TEST(HeartbeatsTest, TheNewestHeartbeatIsEchoedOnce) {
  Heartbeats heartbeats(At(0));
  heartbeats.OnHeartbeat({At(70), std::nullopt}, At(1));
  heartbeats.OnHeartbeat({At(71), std::nullopt}, At(2));
  EXPECT_EQ(heartbeats.TakeDue(At(3), kInterval), (PeerHeartbeat{At(3), PeerHeartbeat::Echo{At(71), At(2)}}));
  EXPECT_EQ(heartbeats.TakeDue(At(4), kInterval), (PeerHeartbeat{At(4), std::nullopt}));
}

}  // namespace
}  // namespace banyan
