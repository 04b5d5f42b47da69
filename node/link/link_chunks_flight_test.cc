// Tests the LinkChunks that are in flight; link_chunks_queue_test.cc has those that wait.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/link/link_chunks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(20), kSecond(21), kThird(22);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

ChunkPtr Chunk(uint32_t index, int64_t size_bytes = 1000, bool is_relayed = false) {
  auto chunk = std::make_shared<ChunkInFlight>();
  chunk->message.id.chunk = ChunkIndex(index);
  chunk->message.route = {{NodeId(1), NodeId(2), NodeId(3)}, is_relayed ? 1u : 0u};
  chunk->size_bytes = size_bytes;
  chunk->rank.arrival = index;
  return chunk;
}

// Takes what waits.
std::vector<ChunkPtr> TakeQueued(LinkChunks& chunks) {
  std::vector<ChunkPtr> taken;
  while (chunks.has_queued()) taken.push_back(chunks.TakeNext());
  return taken;
}

std::vector<uint32_t> IndicesOf(const std::vector<ChunkPtr>& chunks) {
  std::vector<uint32_t> indices;
  for (const ChunkPtr& chunk : chunks) indices.push_back(chunk->message.id.chunk.value());
  return indices;
}

class FlightTest : public ::testing::Test {
 protected:
  FlightTest() {
    for (const ConnectionId id : {kFirst, kSecond, kThird}) chunks_.OnConnectionUp(id);
  }

  uint64_t Send(uint32_t index, ConnectionId connection = kFirst, int64_t milliseconds = 0) {
    return chunks_.Send(Chunk(index), connection, {}, At(milliseconds)).link_sequence;
  }
  uint64_t SendTwin(uint64_t original, ConnectionId connection = kSecond, int64_t milliseconds = 50) {
    return chunks_.SendTwin(original, connection, absl::Milliseconds(30), At(milliseconds)).link_sequence;
  }
  // Return the chunks that wait again then.
  std::vector<ChunkPtr> Lose(ConnectionId connection) {
    chunks_.OnConnectionDown(connection);
    return TakeQueued(chunks_);
  }
  std::vector<uint32_t> GiveUpOlderThan(int64_t age_milliseconds, int64_t milliseconds) {
    chunks_.GiveUpOlderThan(absl::Milliseconds(age_milliseconds), At(milliseconds));
    return IndicesOf(TakeQueued(chunks_));
  }
  int64_t BytesOn(ConnectionId connection) const { return chunks_.connections().in_flight_bytes(connection); }

  LinkChunks chunks_{{kFirst, kSecond, kThird}, /*tiny_bytes=*/0};
};

TEST_F(FlightTest, WhatIsSentHasItsSequenceItsTimeAndItsRoom) {
  const LinkChunks::AckTimes times = {absl::Milliseconds(20), absl::Milliseconds(30)};
  const LinkChunks::Sent& sent = chunks_.Send(Chunk(7, 1500), kSecond, times, At(5));
  EXPECT_EQ(sent.link_sequence, 1u);
  EXPECT_EQ(sent.sent_at, At(5));
  EXPECT_EQ(sent.connection, kSecond);
  EXPECT_EQ(sent.ack_times.expected, absl::Milliseconds(20));
  EXPECT_EQ(sent.ack_times.late, absl::Milliseconds(30));
  EXPECT_FALSE(sent.twin.has_value());
  EXPECT_EQ(chunks_.sent().size(), 1u);
  EXPECT_EQ(chunks_.in_flight_bytes(), 1500);
  EXPECT_EQ(BytesOn(kSecond), 1500);
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, SequencesRiseAndAreNeverUsedTwice) {
  EXPECT_EQ(Send(1), 1u);
  EXPECT_EQ(SendTwin(1), 2u);
  EXPECT_TRUE(chunks_.Acknowledge(1).has_value());
  chunks_.Clear();
  EXPECT_EQ(Send(2), 3u);
}

TEST_F(FlightTest, AnAckEndsTheFlightOnce) {
  Send(1);
  Send(2, kSecond, 3);
  const std::optional<LinkChunks::Sent> sent = chunks_.Acknowledge(2);
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(sent->chunk->message.id.chunk, ChunkIndex(2));
  EXPECT_EQ(sent->sent_at, At(3));
  EXPECT_EQ(chunks_.in_flight_bytes(), 1000);
  EXPECT_EQ(BytesOn(kSecond), 0);
  EXPECT_FALSE(chunks_.Acknowledge(2).has_value());
  EXPECT_FALSE(chunks_.Acknowledge(3).has_value());
  EXPECT_FALSE(chunks_.Acknowledge(0).has_value());
  EXPECT_EQ(chunks_.sent().size(), 1u);
}

TEST_F(FlightTest, TheOldestIsTheOneThatWasSentFirst) {
  Send(1, kFirst, 10);
  Send(2, kSecond, 20);
  EXPECT_EQ(chunks_.oldest_sent_at(), At(10));
  chunks_.Acknowledge(1);
  EXPECT_EQ(chunks_.oldest_sent_at(), At(20));
}

TEST_F(FlightTest, TwinsNameEachOtherAndBothTakeRoom) {
  const uint64_t original = Send(1);
  const uint64_t twin = SendTwin(original);
  EXPECT_EQ(chunks_.sent().at(original).twin, twin);
  EXPECT_EQ(chunks_.sent().at(twin).twin, original);
  EXPECT_EQ(chunks_.in_flight_bytes(), 2000);
  EXPECT_EQ(BytesOn(kFirst), 1000);
  EXPECT_EQ(BytesOn(kSecond), 1000);
}

TEST_F(FlightTest, ATwinIsTheSameChunkWithATimeOfItsOwn) {
  chunks_.Send(Chunk(4), kFirst, {absl::Milliseconds(20), absl::Milliseconds(45)}, At(0));
  SendTwin(1, kSecond, 50);
  const LinkChunks::Sent& twin = chunks_.sent().at(2);
  EXPECT_EQ(twin.chunk->message.id.chunk, ChunkIndex(4));
  EXPECT_EQ(twin.chunk, chunks_.sent().at(1).chunk);
  EXPECT_EQ(twin.sent_at, At(50));
  EXPECT_EQ(twin.ack_times.expected, absl::Milliseconds(30));
  EXPECT_EQ(twin.ack_times.late, absl::Milliseconds(45));
}

TEST_F(FlightTest, TheFirstAckCountsAndTheOtherCopyOvertakesItsConnection) {
  for (const bool original_first : {true, false}) {
    LinkChunks chunks({kFirst, kSecond}, /*tiny_bytes=*/0);
    chunks.OnConnectionUp(kFirst);
    chunks.OnConnectionUp(kSecond);
    chunks.Send(Chunk(1), kFirst, {}, At(0));
    chunks.SendTwin(1, kSecond, absl::Milliseconds(30), At(50));
    const ConnectionId slow = original_first ? kSecond : kFirst;
    const ConnectionId fast = original_first ? kFirst : kSecond;
    EXPECT_TRUE(chunks.Acknowledge(original_first ? 1 : 2).has_value());
    EXPECT_TRUE(chunks.sent().empty());
    EXPECT_EQ(chunks.in_flight_bytes(), 0);
    EXPECT_EQ(chunks.connections().in_flight_bytes(slow), 1000);
    EXPECT_EQ(chunks.connections().LeastLoaded(1), fast);
    EXPECT_EQ(chunks.connections().Idle(), fast);
    // The ack of the other copy counts for its connection alone.
    EXPECT_FALSE(chunks.Acknowledge(original_first ? 2 : 1).has_value());
    EXPECT_EQ(chunks.connections().in_flight_bytes(slow), 0);
    EXPECT_EQ(chunks.connections().LeastLoaded(1), kFirst);
  }
}

TEST_F(FlightTest, ALostConnectionGivesBackExactlyWhatWasOnIt) {
  Send(1, kFirst);
  Send(2, kSecond);
  Send(3, kFirst);
  const std::vector<ChunkPtr> lost = Lose(kFirst);
  EXPECT_THAT(IndicesOf(lost), ElementsAre(1, 3));
  for (const ChunkPtr& chunk : lost) EXPECT_TRUE(chunk->resend);
  EXPECT_EQ(chunks_.in_flight_bytes(), 1000);
  EXPECT_EQ(BytesOn(kFirst), 0);
  EXPECT_FALSE(chunks_.Acknowledge(1).has_value());
  EXPECT_THAT(Lose(kFirst), IsEmpty());
  EXPECT_THAT(Lose(ConnectionId(99)), IsEmpty());
}

TEST_F(FlightTest, ALostConnectionTakesOnlyItsCopyAlong) {
  const uint64_t twin = SendTwin(Send(1));
  EXPECT_THAT(Lose(kFirst), IsEmpty());
  EXPECT_FALSE(chunks_.sent().at(twin).twin.has_value());
  // It may have another twin now.
  EXPECT_EQ(SendTwin(twin, kThird), 3u);
  EXPECT_THAT(Lose(kThird), IsEmpty());
  EXPECT_THAT(IndicesOf(Lose(kSecond)), ElementsAre(1));
  EXPECT_TRUE(chunks_.sent().empty());
  EXPECT_EQ(chunks_.in_flight_bytes(), 0);
}

TEST_F(FlightTest, ALostConnectionIsOvertakenNoMore) {
  SendTwin(Send(1));
  chunks_.Acknowledge(2);
  EXPECT_THAT(Lose(kFirst), IsEmpty());
  chunks_.OnConnectionUp(kFirst);
  EXPECT_EQ(chunks_.connections().Idle(), kFirst);
  EXPECT_EQ(chunks_.connections().LeastLoaded(1), kFirst);
  // The ack that comes all the same changes nothing.
  EXPECT_FALSE(chunks_.Acknowledge(1).has_value());
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, GivesUpWhatIsOfAnAgeAndNothingYounger) {
  Send(1, kFirst, 0);
  Send(2, kFirst, 1);
  EXPECT_THAT(GiveUpOlderThan(100, 99), IsEmpty());
  EXPECT_THAT(GiveUpOlderThan(100, 100), ElementsAre(1));
  EXPECT_THAT(GiveUpOlderThan(100, 101), ElementsAre(2));
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, OfTwinsThatAreBothTooOldOneGoesBack) {
  SendTwin(Send(1));
  Send(2, kThird, 90);
  EXPECT_THAT(GiveUpOlderThan(50, 100), ElementsAre(1));
  EXPECT_EQ(chunks_.sent().size(), 1u);
  EXPECT_EQ(chunks_.in_flight_bytes(), 1000);
}

TEST_F(FlightTest, ASettledCopyIsNotWaitedForForEver) {
  SendTwin(Send(1), kSecond, 50);
  chunks_.Acknowledge(1);
  EXPECT_THAT(GiveUpOlderThan(100, 149), IsEmpty());
  EXPECT_EQ(BytesOn(kSecond), 1000);
  EXPECT_THAT(GiveUpOlderThan(100, 150), IsEmpty());
  EXPECT_EQ(BytesOn(kSecond), 0);
}

TEST_F(FlightTest, CountsWhatItOnlyForwards) {
  chunks_.Send(Chunk(1, 300, /*is_relayed=*/true), kFirst, {}, At(0));
  chunks_.Send(Chunk(2, 500, /*is_relayed=*/true), kSecond, {}, At(0));
  Send(3, kThird);
  EXPECT_EQ(chunks_.relayed_bytes(), 800);
  chunks_.Acknowledge(1);
  EXPECT_EQ(chunks_.relayed_bytes(), 500);
  EXPECT_EQ(Lose(kSecond).size(), 1u);
  EXPECT_EQ(chunks_.relayed_bytes(), 0);
}

TEST_F(FlightTest, ClearDropsAllAndKeepsConnectionsUp) {
  SendTwin(Send(1));
  chunks_.Acknowledge(2);
  chunks_.Send(Chunk(2, 300, /*is_relayed=*/true), kThird, {}, At(0));
  chunks_.Clear();
  EXPECT_TRUE(chunks_.sent().empty());
  EXPECT_EQ(chunks_.in_flight_bytes() + chunks_.relayed_bytes(), 0);
  EXPECT_EQ(chunks_.connections().LeastLoaded(1), kFirst);
  EXPECT_EQ(BytesOn(kFirst) + BytesOn(kThird), 0);
  EXPECT_FALSE(chunks_.Acknowledge(1).has_value());
}

TEST_F(FlightTest, ASettledCopyKeepsItsSizeWhenTheChunkGoesAgainWhole) {
  const ChunkPtr chunk = Chunk(1, /*size_bytes=*/700);
  chunks_.Send(chunk, kFirst, {}, At(0));
  SendTwin(1);
  chunks_.Acknowledge(1);
  chunks_.Enqueue(chunk, /*resend=*/true);
  EXPECT_NE(chunk->size_bytes, 700);
  EXPECT_EQ(BytesOn(kSecond), 700);
  chunks_.Acknowledge(2);
  EXPECT_EQ(BytesOn(kSecond), 0);
}

// Does at random what a link does, and knows which chunks must be in flight.
class FlightFuzz {
 public:
  explicit FlightFuzz(uint64_t seed) : random_(seed) {
    for (const ConnectionId id : ids_) chunks_.OnConnectionUp(id);
  }

  void Step() {
    now_ = now_ + absl::Milliseconds(1);
    switch (random_.Below(6)) {
      case 0:
        return Acknowledge();
      case 1:
        return SendTwin();
      case 2:
        return Lose(ids_[random_.Below(ids_.size())]);
      case 3:
        chunks_.GiveUpOlderThan(absl::Milliseconds(20), now_);
        return ExpectGivenBack();
      default:
        in_flight_.insert(next_chunk_);
        chunks_.Send(Chunk(next_chunk_++, random_.Between(1, 1000)), ids_[random_.Below(ids_.size())], {}, now_);
    }
  }

  void LoseAll() {
    for (const ConnectionId id : ids_) Lose(id);
    EXPECT_THAT(in_flight_, IsEmpty());
    EXPECT_EQ(chunks_.in_flight_bytes(), 0);
  }

  void CheckInvariants() const {
    int64_t bytes = 0;
    std::map<uint32_t, int> copies;
    std::map<ConnectionId, int64_t> bytes_on;
    for (const auto& [sequence, sent] : chunks_.sent()) {
      EXPECT_EQ(sequence, sent.link_sequence);
      bytes += sent.size_bytes;
      bytes_on[sent.connection] += sent.size_bytes;
      ++copies[sent.chunk->message.id.chunk.value()];
      if (!sent.twin.has_value()) continue;
      ASSERT_TRUE(chunks_.sent().contains(*sent.twin));
      EXPECT_EQ(chunks_.sent().at(*sent.twin).twin, sequence);
      EXPECT_EQ(chunks_.sent().at(*sent.twin).chunk->message.id, sent.chunk->message.id);
    }
    EXPECT_EQ(chunks_.in_flight_bytes(), bytes);
    ASSERT_EQ(copies.size(), in_flight_.size());
    for (const auto& [chunk, count] : copies) {
      EXPECT_TRUE(in_flight_.contains(chunk));
      EXPECT_LE(count, 2);
    }
    for (const auto& [id, least] : bytes_on) EXPECT_GE(chunks_.connections().in_flight_bytes(id), least);
  }

 private:
  void Acknowledge() {
    const uint64_t newest = chunks_.sent().empty() ? 1 : chunks_.sent().rbegin()->first;
    const std::optional<LinkChunks::Sent> sent = chunks_.Acknowledge(1 + random_.Below(newest));
    if (!sent.has_value()) return;
    EXPECT_EQ(in_flight_.erase(sent->chunk->message.id.chunk.value()), 1u);
  }

  void SendTwin() {
    const std::optional<ConnectionId> idle = chunks_.connections().Idle();
    if (!idle.has_value() || chunks_.sent().empty() || chunks_.sent().begin()->second.twin.has_value()) return;
    chunks_.SendTwin(chunks_.sent().begin()->first, *idle, absl::Milliseconds(30), now_);
  }

  void Lose(ConnectionId connection) {
    chunks_.OnConnectionDown(connection);
    ExpectGivenBack();
    EXPECT_EQ(chunks_.connections().in_flight_bytes(connection), 0);
    chunks_.OnConnectionUp(connection);
  }

  void ExpectGivenBack() {
    for (const uint32_t chunk : IndicesOf(TakeQueued(chunks_))) EXPECT_EQ(in_flight_.erase(chunk), 1u);
  }

  const std::vector<ConnectionId> ids_ = {kFirst, kSecond, kThird};
  Random random_;
  LinkChunks chunks_{ids_, /*tiny_bytes=*/0};
  std::set<uint32_t> in_flight_;
  uint32_t next_chunk_ = 0;
  Timestamp now_;
};

TEST(FlightFuzzTest, EveryChunkIsInFlightUntilItIsAcknowledgedOrGivenBackOnce) {
  for (uint64_t seed = 1; seed <= 50 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    FlightFuzz fuzz(seed);
    for (int step = 0; step < 300; ++step) {
      fuzz.Step();
      fuzz.CheckInvariants();
    }
    fuzz.LoseAll();
  }
}

}  // namespace
}  // namespace banyan
