#include "node/link/flight.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(20), kSecond(21), kThird(22);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

SendQueue::Chunk Chunk(uint32_t index, int64_t size_bytes = 1000, bool is_relayed = false) {
  SendQueue::Chunk chunk;
  chunk.message.id.chunk = ChunkIndex(index);
  chunk.message.route = {{NodeId(1), NodeId(2), NodeId(3)}, is_relayed ? 1u : 0u};
  chunk.size_bytes = size_bytes;
  chunk.rank.arrival = index;
  return chunk;
}

std::vector<uint32_t> IndicesOf(const std::vector<SendQueue::Chunk>& chunks) {
  std::vector<uint32_t> indices;
  for (const SendQueue::Chunk& chunk : chunks) indices.push_back(chunk.message.id.chunk.value());
  return indices;
}

class FlightTest : public ::testing::Test {
 protected:
  FlightTest() {
    for (const ConnectionId id : {kFirst, kSecond, kThird}) flight_.OnConnectionUp(id);
  }

  uint64_t Add(uint32_t index, ConnectionId connection = kFirst, int64_t milliseconds = 0) {
    return flight_.Add(Chunk(index), connection, {}, At(milliseconds)).link_sequence();
  }
  uint64_t AddTwin(uint64_t original, ConnectionId connection = kSecond, int64_t milliseconds = 50) {
    return flight_.AddTwin(original, connection, absl::Milliseconds(30), At(milliseconds)).link_sequence();
  }
  int64_t BytesOn(ConnectionId connection) const { return flight_.connections().in_flight_bytes(connection); }

  Flight flight_{{kFirst, kSecond, kThird}};
};

TEST_F(FlightTest, WhatIsSentHasItsSequenceItsTimeAndItsRoom) {
  const Flight::AckTimes times = {absl::Milliseconds(20), absl::Milliseconds(30)};
  const Flight::Sent& sent = flight_.Add(Chunk(7, 1500), kSecond, times, At(5));
  EXPECT_EQ(sent.link_sequence(), 1u);
  EXPECT_EQ(sent.sent_at(), At(5));
  EXPECT_EQ(sent.connection, kSecond);
  EXPECT_EQ(sent.ack_times.expected, absl::Milliseconds(20));
  EXPECT_EQ(sent.ack_times.late, absl::Milliseconds(30));
  EXPECT_FALSE(sent.twin.has_value());
  EXPECT_EQ(flight_.size(), 1u);
  EXPECT_EQ(flight_.bytes(), 1500);
  EXPECT_EQ(BytesOn(kSecond), 1500);
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, SequencesRiseAndAreNeverUsedTwice) {
  EXPECT_EQ(Add(1), 1u);
  EXPECT_EQ(AddTwin(1), 2u);
  EXPECT_TRUE(flight_.Acknowledge(1).has_value());
  flight_.Clear();
  EXPECT_EQ(Add(2), 3u);
}

TEST_F(FlightTest, AnAckEndsTheFlightOnce) {
  Add(1);
  Add(2, kSecond, 3);
  const std::optional<Flight::Sent> sent = flight_.Acknowledge(2);
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(sent->chunk.message.id.chunk, ChunkIndex(2));
  EXPECT_EQ(sent->sent_at(), At(3));
  EXPECT_EQ(flight_.bytes(), 1000);
  EXPECT_EQ(BytesOn(kSecond), 0);
  EXPECT_FALSE(flight_.Acknowledge(2).has_value());
  EXPECT_FALSE(flight_.Acknowledge(3).has_value());
  EXPECT_FALSE(flight_.Acknowledge(0).has_value());
  EXPECT_EQ(flight_.size(), 1u);
}

TEST_F(FlightTest, TheOldestIsTheOneThatWasSentFirst) {
  Add(1, kFirst, 10);
  Add(2, kSecond, 20);
  EXPECT_EQ(flight_.oldest_sent_at(), At(10));
  flight_.Acknowledge(1);
  EXPECT_EQ(flight_.oldest_sent_at(), At(20));
}

TEST_F(FlightTest, TwinsNameEachOtherAndBothTakeRoom) {
  const uint64_t original = Add(1);
  const uint64_t twin = AddTwin(original);
  EXPECT_EQ(flight_.sent().at(original).twin, twin);
  EXPECT_EQ(flight_.sent().at(twin).twin, original);
  EXPECT_EQ(flight_.bytes(), 2000);
  EXPECT_EQ(BytesOn(kFirst), 1000);
  EXPECT_EQ(BytesOn(kSecond), 1000);
}

TEST_F(FlightTest, ATwinIsTheSameChunkWithATimeOfItsOwnAndAnAckThatDoesNotWait) {
  SendQueue::Chunk chunk = Chunk(4);
  chunk.message.ack_may_wait = true;
  flight_.Add(std::move(chunk), kFirst, {absl::Milliseconds(20), absl::Milliseconds(45)}, At(0));
  AddTwin(1, kSecond, 50);
  const Flight::Sent& twin = flight_.sent().at(2);
  EXPECT_EQ(twin.chunk.message.id.chunk, ChunkIndex(4));
  EXPECT_EQ(twin.chunk.rank, flight_.sent().at(1).chunk.rank);
  EXPECT_EQ(twin.sent_at(), At(50));
  EXPECT_EQ(twin.ack_times.expected, absl::Milliseconds(30));
  EXPECT_EQ(twin.ack_times.late, absl::Milliseconds(45));
  EXPECT_FALSE(twin.chunk.message.ack_may_wait);
  EXPECT_TRUE(flight_.sent().at(1).chunk.message.ack_may_wait);
}

TEST_F(FlightTest, TheFirstAckCountsAndTheOtherCopyOvertakesItsConnection) {
  for (const bool original_first : {true, false}) {
    Flight flight({kFirst, kSecond});
    flight.OnConnectionUp(kFirst);
    flight.OnConnectionUp(kSecond);
    flight.Add(Chunk(1), kFirst, {}, At(0));
    flight.AddTwin(1, kSecond, absl::Milliseconds(30), At(50));
    const ConnectionId slow = original_first ? kSecond : kFirst;
    const ConnectionId fast = original_first ? kFirst : kSecond;
    EXPECT_TRUE(flight.Acknowledge(original_first ? 1 : 2).has_value());
    EXPECT_TRUE(flight.empty());
    EXPECT_EQ(flight.bytes(), 0);
    EXPECT_EQ(flight.connections().in_flight_bytes(slow), 1000);
    EXPECT_EQ(flight.connections().LeastLoaded(1), fast);
    EXPECT_EQ(flight.connections().Idle(), fast);
    // The ack of the other copy counts for its connection alone.
    EXPECT_FALSE(flight.Acknowledge(original_first ? 2 : 1).has_value());
    EXPECT_EQ(flight.connections().in_flight_bytes(slow), 0);
    EXPECT_EQ(flight.connections().LeastLoaded(1), kFirst);
  }
}

TEST_F(FlightTest, ALostConnectionGivesBackExactlyWhatWasOnIt) {
  Add(1, kFirst);
  Add(2, kSecond);
  Add(3, kFirst);
  const std::vector<SendQueue::Chunk> lost = flight_.OnConnectionDown(kFirst);
  EXPECT_THAT(IndicesOf(lost), ElementsAre(1, 3));
  for (const SendQueue::Chunk& chunk : lost) EXPECT_TRUE(chunk.resend);
  EXPECT_EQ(lost[1].rank.arrival, 3u);
  EXPECT_EQ(flight_.bytes(), 1000);
  EXPECT_EQ(BytesOn(kFirst), 0);
  EXPECT_FALSE(flight_.Acknowledge(1).has_value());
  EXPECT_THAT(flight_.OnConnectionDown(kFirst), IsEmpty());
  EXPECT_THAT(flight_.OnConnectionDown(ConnectionId(99)), IsEmpty());
}

TEST_F(FlightTest, ALostConnectionTakesOnlyItsCopyAlong) {
  const uint64_t twin = AddTwin(Add(1));
  EXPECT_THAT(flight_.OnConnectionDown(kFirst), IsEmpty());
  EXPECT_FALSE(flight_.sent().at(twin).twin.has_value());
  // It may have another twin now.
  EXPECT_EQ(AddTwin(twin, kThird), 3u);
  EXPECT_THAT(flight_.OnConnectionDown(kThird), IsEmpty());
  EXPECT_THAT(IndicesOf(flight_.OnConnectionDown(kSecond)), ElementsAre(1));
  EXPECT_TRUE(flight_.empty());
  EXPECT_EQ(flight_.bytes(), 0);
}

TEST_F(FlightTest, ALostConnectionIsOvertakenNoMore) {
  AddTwin(Add(1));
  flight_.Acknowledge(2);
  EXPECT_THAT(flight_.OnConnectionDown(kFirst), IsEmpty());
  flight_.OnConnectionUp(kFirst);
  EXPECT_EQ(flight_.connections().Idle(), kFirst);
  EXPECT_EQ(flight_.connections().LeastLoaded(1), kFirst);
  // The ack that comes all the same changes nothing.
  EXPECT_FALSE(flight_.Acknowledge(1).has_value());
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, GivesUpWhatIsOfAnAgeAndNothingYounger) {
  Add(1, kFirst, 0);
  Add(2, kFirst, 1);
  EXPECT_THAT(flight_.TakeOlderThan(absl::Milliseconds(100), At(99)), IsEmpty());
  EXPECT_THAT(IndicesOf(flight_.TakeOlderThan(absl::Milliseconds(100), At(100))), ElementsAre(1));
  EXPECT_THAT(IndicesOf(flight_.TakeOlderThan(absl::Milliseconds(100), At(101))), ElementsAre(2));
  EXPECT_EQ(BytesOn(kFirst), 0);
}

TEST_F(FlightTest, OfTwinsThatAreBothTooOldOneGoesBack) {
  AddTwin(Add(1));
  Add(2, kThird, 90);
  EXPECT_THAT(IndicesOf(flight_.TakeOlderThan(absl::Milliseconds(50), At(100))), ElementsAre(1));
  EXPECT_EQ(flight_.size(), 1u);
  EXPECT_EQ(flight_.bytes(), 1000);
}

TEST_F(FlightTest, ASettledCopyIsNotWaitedForForEver) {
  AddTwin(Add(1), kSecond, 50);
  flight_.Acknowledge(1);
  EXPECT_THAT(flight_.TakeOlderThan(absl::Milliseconds(100), At(149)), IsEmpty());
  EXPECT_EQ(BytesOn(kSecond), 1000);
  EXPECT_THAT(flight_.TakeOlderThan(absl::Milliseconds(100), At(150)), IsEmpty());
  EXPECT_EQ(BytesOn(kSecond), 0);
}

TEST_F(FlightTest, CountsWhatItOnlyForwards) {
  flight_.Add(Chunk(1, 300, /*is_relayed=*/true), kFirst, {}, At(0));
  flight_.Add(Chunk(2, 500, /*is_relayed=*/true), kSecond, {}, At(0));
  Add(3, kThird);
  EXPECT_EQ(flight_.relayed_bytes(), 800);
  flight_.Acknowledge(1);
  EXPECT_EQ(flight_.relayed_bytes(), 500);
  EXPECT_EQ(flight_.OnConnectionDown(kSecond).size(), 1u);
  EXPECT_EQ(flight_.relayed_bytes(), 0);
}

TEST_F(FlightTest, ClearDropsAllAndKeepsConnectionsUp) {
  AddTwin(Add(1));
  flight_.Acknowledge(2);
  flight_.Add(Chunk(2, 300, /*is_relayed=*/true), kThird, {}, At(0));
  flight_.Clear();
  EXPECT_TRUE(flight_.empty());
  EXPECT_EQ(flight_.bytes() + flight_.relayed_bytes(), 0);
  EXPECT_EQ(flight_.connections().LeastLoaded(1), kFirst);
  EXPECT_EQ(BytesOn(kFirst) + BytesOn(kThird), 0);
  EXPECT_FALSE(flight_.Acknowledge(1).has_value());
}

// Does at random what a link does, and knows which chunks must be in flight.
class FlightFuzz {
 public:
  explicit FlightFuzz(uint64_t seed) : random_(seed) {
    for (const ConnectionId id : ids_) flight_.OnConnectionUp(id);
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
        return ExpectGivenBack(flight_.TakeOlderThan(absl::Milliseconds(20), now_));
      default:
        in_flight_.insert(next_chunk_);
        flight_.Add(Chunk(next_chunk_++, random_.Between(1, 1000)), ids_[random_.Below(ids_.size())], {}, now_);
    }
  }

  void LoseAll() {
    for (const ConnectionId id : ids_) Lose(id);
    EXPECT_THAT(in_flight_, IsEmpty());
    EXPECT_EQ(flight_.bytes(), 0);
  }

  void CheckInvariants() const {
    int64_t bytes = 0;
    std::map<uint32_t, int> copies;
    std::map<ConnectionId, int64_t> bytes_on;
    for (const auto& [sequence, sent] : flight_.sent()) {
      EXPECT_EQ(sequence, sent.link_sequence());
      bytes += sent.chunk.size_bytes;
      bytes_on[sent.connection] += sent.chunk.size_bytes;
      ++copies[sent.chunk.message.id.chunk.value()];
      if (!sent.twin.has_value()) continue;
      ASSERT_TRUE(flight_.sent().contains(*sent.twin));
      EXPECT_EQ(flight_.sent().at(*sent.twin).twin, sequence);
      EXPECT_EQ(flight_.sent().at(*sent.twin).chunk.message.id, sent.chunk.message.id);
    }
    EXPECT_EQ(flight_.bytes(), bytes);
    ASSERT_EQ(copies.size(), in_flight_.size());
    for (const auto& [chunk, count] : copies) {
      EXPECT_TRUE(in_flight_.contains(chunk));
      EXPECT_LE(count, 2);
    }
    for (const auto& [id, least] : bytes_on) EXPECT_GE(flight_.connections().in_flight_bytes(id), least);
  }

 private:
  void Acknowledge() {
    const uint64_t newest = flight_.empty() ? 1 : flight_.sent().rbegin()->first;
    const std::optional<Flight::Sent> sent = flight_.Acknowledge(1 + random_.Below(newest));
    if (!sent.has_value()) return;
    EXPECT_EQ(in_flight_.erase(sent->chunk.message.id.chunk.value()), 1u);
  }

  void SendTwin() {
    const std::optional<ConnectionId> idle = flight_.connections().Idle();
    if (!idle.has_value() || flight_.empty() || flight_.sent().begin()->second.twin.has_value()) return;
    flight_.AddTwin(flight_.sent().begin()->first, *idle, absl::Milliseconds(30), now_);
  }

  void Lose(ConnectionId connection) {
    ExpectGivenBack(flight_.OnConnectionDown(connection));
    EXPECT_EQ(flight_.connections().in_flight_bytes(connection), 0);
    flight_.OnConnectionUp(connection);
  }

  void ExpectGivenBack(const std::vector<SendQueue::Chunk>& chunks) {
    for (const uint32_t chunk : IndicesOf(chunks)) EXPECT_EQ(in_flight_.erase(chunk), 1u);
  }

  const std::vector<ConnectionId> ids_ = {kFirst, kSecond, kThird};
  Random random_;
  Flight flight_{ids_};
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
