// Tests how a PeerLink sends copies of late chunks; peer_link_test.cc has the rest.
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/link/peer_link.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr ConnectionId kFirst(20);
constexpr ConnectionId kSecond(21);
constexpr int64_t kPayloadBytes = 10000;

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

// Chunks of 10 ms each on a link whose acks take 20 ms: that of a chunk alone is late after 45 ms, and that of the next
// after 60 ms.
class HedgedLinkTest : public ::testing::Test {
 protected:
  HedgedLinkTest() { StartAnew(); }

  // Another link, by options_.
  void StartAnew() {
    PeerLink link(options_, {kFirst, kSecond});
    std::swap(link, link_);
    link_.OnConnectionUp(kFirst);
    link_.OnConnectionUp(kSecond);
  }

  void Enqueue(uint32_t chunk, uint64_t round = 1, std::vector<NodeId> path = {NodeId(1), NodeId(2)}) {
    ChunkMessage message;
    message.id.round = Round(round);
    message.id.chunk = ChunkIndex(chunk);
    message.place = chunk;
    message.route.path = std::move(path);
    link_.Enqueue(std::move(message), {Buffer::Allocate(kPayloadBytes, DataType::kByte)});
  }

  // The chunks that Pump and then Hedge send at that time, and on which connection.
  std::vector<std::pair<uint32_t, ConnectionId>> Pump(int64_t milliseconds) {
    Actions actions;
    link_.Pump(At(milliseconds), actions);
    link_.Hedge(At(milliseconds), actions);
    std::vector<std::pair<uint32_t, ConnectionId>> chunks;
    for (const Action& action : actions) {
      const Send& send = std::get<Send>(action);
      const auto& message = std::get<ChunkMessage>(send.message);
      last_sequence_ = message.link_sequence;
      chunks.emplace_back(message.id.chunk.value(), send.connection);
    }
    return chunks;
  }

  PeerLink::Options options_{.window = {.size_bytes = 8 * kPayloadBytes,
                                        .connections = 1,
                                        .ack_time = absl::Milliseconds(20),
                                        .rate_bps = 8.0 * (kPayloadBytes + 68) * 100}};
  PeerLink link_{options_, {kFirst, kSecond}};
  uint64_t last_sequence_ = 0;
};

TEST_F(HedgedLinkTest, WhatIsLateGoesOnceMoreOverAConnectionThatCarriesNothing) {
  Enqueue(1);
  EXPECT_THAT(Pump(0), ElementsAre(Pair(1, kFirst)));
  EXPECT_EQ(link_.NextHedge(), At(45));
  EXPECT_THAT(Pump(44), IsEmpty());
  EXPECT_THAT(Pump(45), ElementsAre(Pair(1, kSecond)));
  EXPECT_EQ(link_.NextHedge(), kNever);
  EXPECT_THAT(Pump(1000), IsEmpty());
  EXPECT_EQ(link_.counters().hedged_bytes, link_.counters().sent_bytes / 2);
  EXPECT_EQ(link_.counters().resent_bytes, 0u);
}

TEST_F(HedgedLinkTest, TheAckOfACopyDoesNotWait) {
  for (uint32_t chunk = 1; chunk <= 9; ++chunk) Enqueue(chunk);
  Actions actions;
  link_.Pump(At(0), actions);
  EXPECT_TRUE(std::get<ChunkMessage>(std::get<Send>(actions[2]).message).ack_may_wait);
  actions.clear();
  link_.Hedge(At(1000), actions);
  ASSERT_FALSE(actions.empty());
  for (const Action& action : actions) {
    EXPECT_FALSE(std::get<ChunkMessage>(std::get<Send>(action).message).ack_may_wait);
  }
}

TEST_F(HedgedLinkTest, WhatElsePumpsALinkSendsNoCopies) {
  Enqueue(1);
  Pump(0);
  Actions actions;
  link_.Pump(At(1000), actions);
  EXPECT_THAT(actions, IsEmpty());
  link_.Hedge(At(1000), actions);
  EXPECT_EQ(actions.size(), 1u);
}

TEST_F(HedgedLinkTest, TheMoreIsOnItsWayTheLaterAcksMayBe) {
  Enqueue(1);
  Enqueue(2);
  Pump(0);
  link_.OnLinkAck(1, At(30));
  EXPECT_EQ(link_.NextHedge(), At(60));
}

TEST_F(HedgedLinkTest, WhereAcksTakeLongerThanTheyShouldTheyAreLateLater) {
  int64_t now = 0;
  for (uint32_t chunk = 1; chunk <= 40; ++chunk, now += 300) {
    Enqueue(chunk);
    Pump(now);
    link_.OnLinkAck(last_sequence_, At(now + 300));
  }
  Enqueue(41);
  Pump(now);
  // Ten times as long, and half as long again.
  EXPECT_GT(link_.NextHedge(), At(now + 440));
  EXPECT_LE(link_.NextHedge(), At(now + 450));
}

TEST_F(HedgedLinkTest, TheFirstAckCounts) {
  for (const bool original_first : {true, false}) {
    StartAnew();
    Enqueue(1);
    Pump(0);
    const uint64_t original = last_sequence_;
    Pump(50);
    const uint64_t copy = last_sequence_;
    ASSERT_NE(original, copy);
    const auto first = link_.OnLinkAck(original_first ? original : copy, At(60));
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->chunk->message.id.chunk, ChunkIndex(1));
    EXPECT_EQ(first->sent_at, At(original_first ? 0 : 50));
    EXPECT_EQ(link_.in_flight_bytes(), 0);
    EXPECT_EQ(link_.NextDeadline(), kNever);
    EXPECT_FALSE(link_.OnLinkAck(original_first ? copy : original, At(70)).has_value());
    EXPECT_FALSE(link_.OnLinkAck(original, At(80)).has_value());
  }
}

TEST_F(HedgedLinkTest, WhatWaitsOfTheSameRoundGoesFirstWhileAcksCome) {
  options_.window.size_bytes = 3 * kPayloadBytes;
  link_.Resize(options_.window);
  for (uint32_t chunk = 1; chunk <= 3; ++chunk) Enqueue(chunk);
  EXPECT_THAT(Pump(0), ElementsAre(Pair(1, kFirst), Pair(2, kFirst)));
  link_.OnLinkAck(2, At(40));
  Enqueue(4);
  EXPECT_THAT(Pump(40), ElementsAre(Pair(3, kFirst)));
  EXPECT_EQ(link_.NextHedge(), At(85));
  EXPECT_THAT(Pump(84), IsEmpty());
  EXPECT_THAT(Pump(85), ElementsAre(Pair(1, kSecond)));
}

TEST_F(HedgedLinkTest, WhatWasOvertakenByFarIsLateAtOnce) {
  Enqueue(1);
  Pump(0);
  // Its ack should take 30 ms.
  for (const int64_t later : {7, 8}) {
    Enqueue(2);
    Pump(later);
    link_.OnLinkAck(last_sequence_, At(30));
    EXPECT_EQ(link_.NextHedge(), At(later == 7 ? 45 : 8));
  }
  EXPECT_THAT(Pump(30), ElementsAre(Pair(1, kSecond)));
}

TEST_F(HedgedLinkTest, AConnectionThatWasOvertakenGetsNothingMoreUntilItsAck) {
  Enqueue(1);
  Pump(0);
  const uint64_t original = last_sequence_;
  Pump(50);
  link_.OnLinkAck(last_sequence_, At(60));
  Enqueue(2);
  EXPECT_THAT(Pump(60), ElementsAre(Pair(2, kSecond)));
  link_.OnLinkAck(original, At(70));
  Enqueue(3);
  EXPECT_THAT(Pump(70), ElementsAre(Pair(3, kFirst)));
}

TEST_F(HedgedLinkTest, WhatWaitsOfALaterRoundDoesNot) {
  options_.window.size_bytes = kPayloadBytes;
  link_.Resize(options_.window);
  Enqueue(1);
  Enqueue(2, 2);
  EXPECT_THAT(Pump(0), ElementsAre(Pair(1, kFirst)));
  EXPECT_THAT(Pump(100), ElementsAre(Pair(1, kSecond)));
}

TEST_F(HedgedLinkTest, WithoutAnIdleConnectionNothingIsHedged) {
  options_.window.connections = 2;
  link_.Resize(options_.window);
  Enqueue(1);
  Enqueue(2);
  EXPECT_THAT(Pump(0), ElementsAre(Pair(1, kFirst), Pair(2, kSecond)));
  EXPECT_EQ(link_.NextHedge(), kNever);
  EXPECT_THAT(Pump(200), IsEmpty());
  link_.OnLinkAck(2, At(210));
  EXPECT_LT(link_.NextHedge(), At(210));
  EXPECT_THAT(Pump(210), ElementsAre(Pair(1, kSecond)));
}

TEST_F(HedgedLinkTest, AuxiliaryPathsAndLinksOfUnknownRateAreNotHedged) {
  Enqueue(1, 1, {NodeId(1), NodeId(2), NodeId(3)});
  Pump(0);
  EXPECT_THAT(Pump(100), IsEmpty());
  options_.window.rate_bps = 0;
  StartAnew();
  Enqueue(1);
  Pump(0);
  EXPECT_EQ(link_.NextHedge(), kNever);
  EXPECT_THAT(Pump(100000), IsEmpty());
}

TEST_F(HedgedLinkTest, ALostConnectionTakesOnlyItsCopyAlong) {
  Enqueue(1);
  Pump(0);
  Pump(50);
  link_.OnConnectionDown(kFirst, At(0));
  EXPECT_EQ(link_.queued_bytes(), 0);
  EXPECT_GT(link_.in_flight_bytes(), 0);
  link_.OnConnectionDown(kSecond, At(0));
  EXPECT_EQ(link_.in_flight_bytes(), 0);
  link_.OnConnectionUp(kFirst);
  EXPECT_THAT(Pump(60), ElementsAre(Pair(1, kFirst)));
  EXPECT_TRUE(link_.OnLinkAck(last_sequence_, At(70)).has_value());
}

TEST_F(HedgedLinkTest, AnAckThatIsLostIsNotWaitedForForEver) {
  Enqueue(1);
  Pump(0);
  const uint64_t original = last_sequence_;
  Pump(50);
  link_.OnLinkAck(original, At(60));
  Enqueue(2);
  Pump(3000);
  link_.ResendOverdue(At(6000));
  // Both connections are free again: the copy's ack has not come, and the second chunk's neither.
  EXPECT_THAT(Pump(6000), ElementsAre(Pair(2, kFirst)));
  EXPECT_THAT(Pump(6100), ElementsAre(Pair(2, kSecond)));
}

}  // namespace
}  // namespace banyan
