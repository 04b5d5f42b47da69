#include "node/link/peer_link.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/chunk_size.h"
#include "node/link/link_ack_buffer.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(20);
constexpr ConnectionId kSecond(21);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

ChunkMessage Chunk(uint32_t index, int32_t priority = 0, uint32_t hop = 0) {
  ChunkMessage message;
  message.id.chunk = ChunkIndex(index);
  message.place = index;
  message.priority = priority;
  message.route.path = {NodeId(1), NodeId(2), NodeId(3)};
  message.route.hop = hop;
  return message;
}

Payload Bytes(int64_t size) { return {Buffer::Allocate(size, DataType::kByte)}; }

class PeerLinkTest : public ::testing::Test {
 protected:
  PeerLinkTest() { link_.OnConnectionUp(kFirst); }

  // The chunks that Pump sends now.
  std::vector<uint32_t> Pump(int64_t milliseconds = 0) {
    Actions actions;
    link_.Pump(At(milliseconds), actions);
    std::vector<uint32_t> chunks;
    for (const Action& action : actions) {
      sent_.push_back(std::get<Send>(action));
      chunks.push_back(std::get<ChunkMessage>(sent_.back().message).id.chunk.value());
    }
    return chunks;
  }
  uint64_t SequenceOf(size_t index) const { return std::get<ChunkMessage>(sent_[index].message).link_sequence; }

  PeerLink link_{
      {.window = {.size_bytes = 20000, .connections = 2}, .resend_after = absl::Seconds(2), .tiny_bytes = 4096},
      {kFirst, kSecond}};
  std::vector<Send> sent_;
};

TEST_F(PeerLinkTest, AuxiliaryPathsWaitForOthersButNotForEver) {
  link_.OnConnectionDown(kFirst, At(0));
  for (uint32_t i = 1; i <= 2; ++i) {
    ChunkMessage on_auxiliary_path = Chunk(100 + i);
    on_auxiliary_path.is_auxiliary = true;
    link_.Enqueue(std::move(on_auxiliary_path), Bytes(1000));
  }
  for (uint32_t i = 1; i <= 8; ++i) link_.Enqueue(Chunk(i), Bytes(1000));
  link_.OnConnectionUp(kFirst);
  EXPECT_THAT(Pump(), ElementsAre(1, 2, 3, 4, 5, 6, 101, 7, 8, 102));
  EXPECT_GT(link_.counters().auxiliary_bytes, 2000u);
}

TEST_F(PeerLinkTest, GivesAwayWhatWaitsForAnAuxiliaryPath) {
  link_.OnConnectionDown(kFirst, At(0));
  link_.Enqueue(Chunk(1, 0, 1), Bytes(5000));
  link_.Enqueue(Chunk(2), Bytes(5000));
  link_.Enqueue(Chunk(3), Bytes(5000));
  const auto taken =
      link_.TakeForAuxiliaryPath([](const ChunkInFlight& chunk) { return chunk.message.id.chunk > ChunkIndex(2); });
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->message.id.chunk, ChunkIndex(3));
  // A relayed chunk has no other way.
  EXPECT_EQ(link_.TakeForAuxiliaryPath([](const ChunkInFlight&) { return true; })->message.id.chunk, ChunkIndex(2));
  EXPECT_EQ(link_.TakeForAuxiliaryPath([](const ChunkInFlight&) { return true; }), nullptr);
}

TEST_F(PeerLinkTest, IsStuckWithoutAConnectionOrAcks) {
  EXPECT_FALSE(link_.IsStuck(At(0)));
  link_.Enqueue(Chunk(1), Bytes(5000));
  Pump(0);
  EXPECT_FALSE(link_.IsStuck(At(1000)));
  EXPECT_TRUE(link_.IsStuck(At(1001)));
  link_.OnLinkAck(SequenceOf(0), At(1002));
  EXPECT_FALSE(link_.IsStuck(At(5000)));
  link_.OnConnectionDown(kFirst, At(0));
  EXPECT_TRUE(link_.IsStuck(At(5000)));
}

TEST_F(PeerLinkTest, IsNotStuckWhileItsFirstConnectionMayStillCome) {
  PeerLink link(PeerLink::Options{}, {kFirst});
  Actions actions;
  EXPECT_FALSE(link.IsStuck(At(9000)));
  link.Enqueue(Chunk(1), Bytes(5000));
  link.Pump(At(9000), actions);
  EXPECT_FALSE(link.IsStuck(At(10000)));
  EXPECT_TRUE(link.IsStuck(At(10001)));
  link.OnConnectionUp(kFirst);
  EXPECT_FALSE(link.IsStuck(At(10001)));
}

TEST_F(PeerLinkTest, IsBusyWhileAChunkIsOnItsWay) {
  for (uint32_t i = 1; i <= 2; ++i) link_.Enqueue(Chunk(i), Bytes(5000));
  Pump(100);
  link_.OnLinkAck(SequenceOf(0), At(150));
  link_.CountBusy(At(180));
  EXPECT_EQ(link_.counters().busy, absl::Milliseconds(80));
  link_.OnLinkAck(SequenceOf(1), At(200));
  link_.CountBusy(At(1000));
  EXPECT_EQ(link_.counters().busy, absl::Milliseconds(100));
}

TEST_F(PeerLinkTest, TinyThenPriorityThenFirstCome) {
  link_.OnConnectionDown(kFirst, At(0));
  link_.Enqueue(Chunk(1), Bytes(5000));
  link_.Enqueue(Chunk(2), Bytes(5000));
  link_.Enqueue(Chunk(3, 7), Bytes(5000));
  link_.Enqueue(Chunk(4, -7), Bytes(10));
  EXPECT_THAT(Pump(), IsEmpty());
  link_.OnConnectionUp(kFirst);
  EXPECT_THAT(Pump(), ElementsAre(4, 3, 1, 2));
}

TEST_F(PeerLinkTest, TheWindowAlwaysLetsOneChunkGo) {
  for (uint32_t i : {1, 2}) link_.Enqueue(Chunk(i), Bytes(50000));
  EXPECT_THAT(Pump(), ElementsAre(1));
  EXPECT_THAT(Pump(), IsEmpty());
  ASSERT_TRUE(link_.OnLinkAck(SequenceOf(0), At(1)).has_value());
  EXPECT_THAT(Pump(), ElementsAre(2));
}

TEST_F(PeerLinkTest, LinkAcksFreeCredit) {
  for (uint32_t i = 0; i < 6; ++i) link_.Enqueue(Chunk(i), Bytes(9000));
  EXPECT_THAT(Pump(), ElementsAre(0, 1));
  EXPECT_GT(link_.in_flight_bytes(), 18000);
  const std::optional<PeerLink::Sent> acknowledged = link_.OnLinkAck(SequenceOf(1), At(1));
  ASSERT_TRUE(acknowledged.has_value());
  EXPECT_EQ(acknowledged->chunk->message.id.chunk, ChunkIndex(1));
  EXPECT_THAT(Pump(), ElementsAre(2));
  // Twice, or never sent: nothing is freed.
  EXPECT_FALSE(link_.OnLinkAck(SequenceOf(1), At(1)).has_value());
  EXPECT_FALSE(link_.OnLinkAck(999, At(1)).has_value());
  EXPECT_THAT(Pump(), IsEmpty());
}

TEST_F(PeerLinkTest, ChunksGoToTheConnectionWithTheLeastOnItsWay) {
  link_.OnConnectionUp(kSecond);
  link_.Enqueue(Chunk(0), Bytes(9000));
  link_.Enqueue(Chunk(1), Bytes(5000));
  link_.Enqueue(Chunk(2), Bytes(5000));
  Pump();
  ASSERT_EQ(sent_.size(), 3u);
  EXPECT_EQ(sent_[0].connection, kFirst);
  EXPECT_EQ(sent_[1].connection, kSecond);
  EXPECT_EQ(sent_[2].connection, kSecond);
}

TEST_F(PeerLinkTest, OthersThanTheFirstConnectionsAreForWhenTheseAreLost) {
  link_.Resize({.size_bytes = 20000, .connections = 1});
  link_.OnConnectionUp(kSecond);
  for (uint32_t i = 0; i < 2; ++i) link_.Enqueue(Chunk(i), Bytes(5000));
  Pump();
  link_.OnConnectionDown(kFirst, At(0));
  EXPECT_THAT(Pump(), ElementsAre(0, 1));
  link_.OnConnectionUp(kFirst);
  link_.Enqueue(Chunk(2), Bytes(5000));
  Pump();
  ASSERT_EQ(sent_.size(), 5u);
  for (const size_t i : {0, 1, 4}) EXPECT_EQ(sent_[i].connection, kFirst);
  for (const size_t i : {2, 3}) EXPECT_EQ(sent_[i].connection, kSecond);
}

TEST_F(PeerLinkTest, ALostConnectionRequeuesExactlyWhatWasOnIt) {
  link_.OnConnectionUp(kSecond);
  for (uint32_t i = 0; i < 3; ++i) link_.Enqueue(Chunk(i), Bytes(6000));
  EXPECT_THAT(Pump(), ElementsAre(0, 1, 2));
  link_.Enqueue(Chunk(3), Bytes(6000));
  link_.OnConnectionDown(kFirst, At(0));  // had 0 and 2
  // In their old places, before what came later.
  EXPECT_THAT(Pump(), ElementsAre(0, 2));
  for (size_t i : {3, 4}) EXPECT_EQ(sent_[i].connection, kSecond);
  EXPECT_GT(SequenceOf(3), SequenceOf(2));
  EXPECT_FALSE(link_.OnLinkAck(SequenceOf(0), At(1)).has_value());
  EXPECT_EQ(link_.counters().resent_bytes, 2 * static_cast<uint64_t>(WireBytes(Chunk(0), Bytes(6000))));
  EXPECT_EQ(link_.counters().sent_bytes, 5 * static_cast<uint64_t>(WireBytes(Chunk(0), Bytes(6000))));
}

TEST_F(PeerLinkTest, AnAckMayWaitWhereOthersAreOnTheirWayAndAnotherOneFollows) {
  for (uint32_t i = 1; i <= 4; ++i) link_.Enqueue(Chunk(i), Bytes(5000));
  Pump();
  std::vector<bool> may_wait;
  for (const Send& send : sent_) may_wait.push_back(std::get<ChunkMessage>(send.message).ack_may_wait);
  EXPECT_THAT(may_wait, ElementsAre(false, false, true));
  // It is the last one that waits now.
  link_.OnLinkAck(SequenceOf(0), At(1));
  EXPECT_THAT(Pump(1), ElementsAre(4));
  EXPECT_FALSE(std::get<ChunkMessage>(sent_.back().message).ack_may_wait);
}

TEST_F(PeerLinkTest, NoAckWaitsForAChunkThatASlowLinkTakesLongFor) {
  const double just_enough_bps = 8 * WireBytes(5000, 3) / absl::ToDoubleSeconds(LinkAckBuffer::kLongestWait);
  for (const double rate_bps : {0.9 * just_enough_bps, 1.1 * just_enough_bps}) {
    PeerLink link({.window = {.size_bytes = 20000, .rate_bps = rate_bps}}, {kFirst});
    link.OnConnectionUp(kFirst);
    for (uint32_t i = 1; i <= 5; ++i) link.Enqueue(Chunk(i), Bytes(5000));
    Actions actions;
    link.Pump(At(0), actions);
    const bool may_wait = std::get<ChunkMessage>(std::get<Send>(actions.back()).message).ack_may_wait;
    EXPECT_EQ(may_wait, rate_bps > just_enough_bps);
  }
}

TEST_F(PeerLinkTest, AnOverdueLinkAckCausesAResend) {
  EXPECT_EQ(link_.NextDeadline(), kNever);
  link_.Enqueue(Chunk(0), Bytes(6000));
  Pump(100);
  EXPECT_EQ(link_.NextDeadline(), At(2100));
  link_.ResendOverdue(At(2099));
  EXPECT_THAT(Pump(2099), IsEmpty());
  link_.ResendOverdue(At(2100));
  EXPECT_THAT(Pump(2100), ElementsAre(0));
  // The wait doubles.
  EXPECT_EQ(link_.NextDeadline(), At(2100 + 4000));
  ASSERT_TRUE(link_.OnLinkAck(SequenceOf(1), At(2200)).has_value());
  EXPECT_EQ(link_.NextDeadline(), kNever);
}

TEST_F(PeerLinkTest, EveryAckRestartsTheWait) {
  for (uint32_t i = 0; i < 2; ++i) link_.Enqueue(Chunk(i), Bytes(6000));
  Pump(0);
  ASSERT_TRUE(link_.OnLinkAck(SequenceOf(1), At(400)).has_value());
  EXPECT_EQ(link_.NextDeadline(), At(2400));
}

TEST_F(PeerLinkTest, RelayedBytesAreCountedOnce) {
  link_.Enqueue(Chunk(0, 0, 1), Bytes(6000));
  link_.Enqueue(Chunk(1), Bytes(6000));
  const int64_t relayed = WireBytes(Chunk(0), Bytes(6000));
  EXPECT_EQ(link_.relayed_bytes(), relayed);
  Pump();
  EXPECT_EQ(link_.relayed_bytes(), relayed);
  link_.OnConnectionDown(kFirst, At(0));
  link_.OnConnectionUp(kFirst);
  EXPECT_EQ(link_.relayed_bytes(), relayed);
  Pump();
  for (size_t i = 0; i < sent_.size(); ++i) link_.OnLinkAck(SequenceOf(i), At(1));
  for (size_t i = 0; i < sent_.size(); ++i) link_.OnLinkAck(SequenceOf(i), At(1));
  EXPECT_EQ(link_.relayed_bytes(), 0);
  EXPECT_EQ(link_.in_flight_bytes(), 0);
  EXPECT_EQ(link_.queued_bytes(), 0);
}

TEST_F(PeerLinkTest, ClearDropsAll) {
  for (uint32_t i = 0; i < 6; ++i) link_.Enqueue(Chunk(i, 0, 1), Bytes(9000));
  Pump();
  link_.Clear();
  EXPECT_EQ(link_.relayed_bytes() + link_.in_flight_bytes() + link_.queued_bytes(), 0);
  EXPECT_EQ(link_.NextDeadline(), kNever);
  link_.Enqueue(Chunk(9), Bytes(9000));
  EXPECT_THAT(Pump(), ElementsAre(9));
}

class PacedLinkTest : public ::testing::Test {
 protected:
  PacedLinkTest() {
    link_.OnConnectionUp(kFirst);
    link_.OnConnectionUp(kSecond);
  }

  // What Pump asks for: "pace 1 at 6" is connection 1 at 6 Mbit/s.
  std::vector<std::string> Pump(int64_t milliseconds = 0) {
    Actions actions;
    link_.Pump(At(milliseconds), actions);
    std::vector<std::string> asked;
    for (const Action& action : actions) {
      if (const auto* pace = std::get_if<Pace>(&action); pace != nullptr) {
        asked.push_back(absl::StrCat("pace ", pace->connection == kFirst ? 1 : 2, " at ", pace->rate_bps / 1e6));
      } else {
        asked.push_back(absl::StrCat("send on ", std::get<Send>(action).connection == kFirst ? 1 : 2));
      }
    }
    return asked;
  }
  std::vector<std::string> PumpWith(uint32_t chunk, int64_t milliseconds = 0) {
    link_.Enqueue(Chunk(chunk), Bytes(5000));
    return Pump(milliseconds);
  }

  const LinkWindow window_ = {.size_bytes = 20000, .connections = 2, .pace_bps = 6e6};
  PeerLink link_{{.window = window_}, {kFirst, kSecond}};
};

TEST_F(PacedLinkTest, ConnectionsThatHaveNotSentAllShareThePace) {
  EXPECT_THAT(PumpWith(1), ElementsAre("pace 1 at 6", "send on 1"));
  EXPECT_THAT(PumpWith(2), ElementsAre("pace 1 at 3", "pace 2 at 3", "send on 2"));
  EXPECT_THAT(PumpWith(3), ElementsAre("send on 1"));
  // At 3 Mbit/s the second has sent its chunk after 14 ms, the first both of its after 21 ms.
  EXPECT_THAT(Pump(10), ElementsAre());
  EXPECT_THAT(Pump(14), ElementsAre("pace 1 at 6", "pace 2 at 6"));
  EXPECT_THAT(Pump(30), ElementsAre());
  link_.OnLinkAck(2, At(30));
  EXPECT_THAT(PumpWith(4, 30), ElementsAre("send on 2"));
  link_.OnLinkAck(1, At(30));
  EXPECT_THAT(PumpWith(5, 30), ElementsAre("pace 1 at 3", "pace 2 at 3", "send on 1"));
}

TEST_F(PacedLinkTest, SmallChunksHaveNoPace) {
  link_.Enqueue(Chunk(1), Bytes(1000));
  EXPECT_THAT(Pump(), ElementsAre("send on 1"));
  EXPECT_THAT(PumpWith(2), ElementsAre("send on 2"));
  EXPECT_THAT(PumpWith(3), ElementsAre("send on 1"));
  link_.OnLinkAck(1, At(1));
  EXPECT_THAT(Pump(1), ElementsAre("pace 1 at 3", "pace 2 at 3"));
}

TEST_F(PacedLinkTest, ALostConnectionLeavesItsPartToTheOther) {
  for (uint32_t chunk = 1; chunk <= 3; ++chunk) PumpWith(chunk);
  link_.OnConnectionDown(kSecond, At(0));
  EXPECT_THAT(Pump(), ElementsAre("pace 1 at 6", "send on 1"));
}

TEST_F(PacedLinkTest, FollowsItsWindow) {
  for (uint32_t chunk = 1; chunk <= 3; ++chunk) PumpWith(chunk);
  LinkWindow window = window_;
  window.pace_bps = kUnpaced;
  link_.Resize(window);
  EXPECT_THAT(Pump(), ElementsAre("pace 1 at inf", "pace 2 at inf"));
  link_.Resize(window_);
  // What was sent meanwhile counts as gone.
  EXPECT_THAT(Pump(), ElementsAre("pace 1 at 6", "pace 2 at 6"));
}

}  // namespace
}  // namespace banyan
