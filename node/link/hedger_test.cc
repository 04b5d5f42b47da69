#include "node/link/hedger.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(20), kSecond(21);
constexpr Round kRound(5);
constexpr absl::Duration kExpected = absl::Milliseconds(40);

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

// Acks should take 40 ms, so they are late after 60 ms. A chunk is overtaken by one sent more than 10 ms after it.
class HedgerTest : public ::testing::Test {
 protected:
  HedgerTest() {
    chunks_.OnConnectionUp(kFirst);
    chunks_.OnConnectionUp(kSecond);
  }

  // Sends a chunk of kRound over a path of so many nodes; its link sequence.
  uint64_t Add(int64_t milliseconds, absl::Duration expected = kExpected, size_t path_nodes = 2) {
    auto chunk = std::make_shared<ChunkInFlight>();
    chunk->size_bytes = 1000;
    chunk->message.id.round = kRound;
    chunk->message.route.path.resize(path_nodes);
    return chunks_.Send(std::move(chunk), kFirst, hedger_.AckTimes(expected), At(milliseconds)).link_sequence;
  }
  void Acknowledge(uint64_t link_sequence, int64_t milliseconds) {
    const std::optional<LinkChunks::Sent> sent = chunks_.Acknowledge(link_sequence);
    ASSERT_TRUE(sent.has_value());
    timer_.OnAck(At(milliseconds) - sent->sent_at, At(milliseconds));
    hedger_.OnAck(*sent, At(milliseconds));
  }
  Timestamp HedgeAt(uint64_t link_sequence) const {
    return hedger_.HedgeAt(chunks_.sent().at(link_sequence), waiting_round_, timer_);
  }
  Timestamp NextHedge() const { return hedger_.NextHedge(chunks_, timer_); }
  std::vector<uint64_t> Due(int64_t milliseconds) const { return hedger_.Due(chunks_, timer_, At(milliseconds)); }

  Hedger hedger_;
  LinkChunks chunks_{{kFirst, kSecond}, /*tiny_bytes=*/0};
  ResendTimer timer_{absl::Seconds(2)};
  std::optional<Round> waiting_round_;
};

TEST_F(HedgerTest, AnAckIsLateAfterHalfAsMuchAgain) {
  Add(0);
  EXPECT_EQ(HedgeAt(1), At(60));
  EXPECT_EQ(NextHedge(), At(60));
  EXPECT_THAT(Due(59), IsEmpty());
  EXPECT_THAT(Due(60), ElementsAre(1));
}

TEST_F(HedgerTest, WithNothingInFlightNothingIsDue) {
  EXPECT_EQ(NextHedge(), kNever);
  EXPECT_THAT(Due(1'000'000), IsEmpty());
}

TEST_F(HedgerTest, WhatIsDueComesOldestFirst) {
  for (const int64_t milliseconds : {0, 5, 9}) Add(milliseconds);
  EXPECT_THAT(Due(65), ElementsAre(1, 2));
  EXPECT_EQ(NextHedge(), At(60));
}

TEST_F(HedgerTest, RelayedPathsUnknownRatesAndTwinsAreNotHedged) {
  Add(0, kExpected, 3);
  Add(0, absl::InfiniteDuration());
  EXPECT_EQ(HedgeAt(1), kNever);
  EXPECT_EQ(HedgeAt(2), kNever);
  const uint64_t hedged = Add(0);
  chunks_.SendTwin(hedged, kSecond, kExpected, At(60));
  EXPECT_EQ(HedgeAt(hedged), kNever);
  EXPECT_EQ(HedgeAt(hedged + 1), kNever);
  EXPECT_THAT(Due(1'000'000), IsEmpty());
}

TEST_F(HedgerTest, ACopyWhoseTwinIsLostMayBeHedgedAgain) {
  Add(0);
  chunks_.SendTwin(1, kSecond, kExpected, At(60));
  chunks_.OnConnectionDown(kFirst);
  EXPECT_EQ(HedgeAt(2), At(120));
}

TEST_F(HedgerTest, WithoutAnIdleConnectionNothingIsWaitedFor) {
  Add(0);
  EXPECT_EQ(NextHedge(), At(60));
  chunks_.OnConnectionDown(kSecond);
  EXPECT_EQ(NextHedge(), kNever);
  chunks_.OnConnectionUp(kSecond);
  EXPECT_EQ(NextHedge(), At(60));
}

TEST_F(HedgerTest, WhileOthersOfTheRoundWaitACopyGoesOnlyWhenAcksStop) {
  Add(0);
  Add(1);
  waiting_round_ = kRound;
  EXPECT_EQ(HedgeAt(1), At(60));
  Acknowledge(2, 50);
  EXPECT_EQ(HedgeAt(1), At(110));
  // Chunks of later rounds may wait.
  waiting_round_ = kRound.Next();
  EXPECT_EQ(HedgeAt(1), At(60));
  // One of an earlier round goes first, too.
  waiting_round_ = Round(kRound.value() - 1);
  EXPECT_EQ(HedgeAt(1), At(110));
}

TEST_F(HedgerTest, WhatWasOvertakenByFarIsDueAtOnce) {
  Add(0);
  Add(10);
  Acknowledge(2, 30);
  EXPECT_EQ(HedgeAt(1), At(60));
  Add(11);
  Acknowledge(3, 31);
  EXPECT_EQ(HedgeAt(1), At(11));
  EXPECT_THAT(Due(31), ElementsAre(1));
  // Not while others of its round wait.
  waiting_round_ = kRound;
  EXPECT_EQ(HedgeAt(1), At(31 + 60));
}

TEST_F(HedgerTest, AnOlderAckThatComesLaterOvertakesNothing) {
  Add(0);
  Add(50);
  Add(55);
  Acknowledge(3, 70);
  Acknowledge(1, 75);
  // The newest of those acknowledged counts: 55, which is near.
  EXPECT_EQ(HedgeAt(2), At(50 + 60));
}

TEST_F(HedgerTest, SlowAcksMakeOthersLateLater) {
  for (int ack = 0; ack < 100; ++ack) {
    const uint64_t sent = Add(1000 * ack);
    Acknowledge(sent, 1000 * ack + 400);
  }
  EXPECT_NEAR(hedger_.slowness(), 10, 0.01);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(hedger_.AckTimes(kExpected).late), 600, 1);
  EXPECT_EQ(hedger_.AckTimes(kExpected).expected, kExpected);
}

TEST_F(HedgerTest, OneAckCountsLittle) {
  Acknowledge(Add(0), 400);
  EXPECT_DOUBLE_EQ(hedger_.slowness(), 1 + Hedger::kSlownessWeight * 9);
}

TEST_F(HedgerTest, FastAcksDoNotMakeOthersLateSooner) {
  for (int ack = 0; ack < 20; ++ack) Acknowledge(Add(100 * ack), 100 * ack + 1);
  EXPECT_EQ(hedger_.slowness(), 1);
  EXPECT_EQ(hedger_.AckTimes(kExpected).late, Hedger::kLateFactor * kExpected);
}

TEST_F(HedgerTest, AcksThatNobodyExpectedTeachNothing) {
  Acknowledge(Add(0, absl::InfiniteDuration()), 5000);
  Acknowledge(Add(0, absl::ZeroDuration()), 5000);
  EXPECT_EQ(hedger_.slowness(), 1);
  EXPECT_EQ(hedger_.AckTimes(absl::InfiniteDuration()).late, absl::InfiniteDuration());
}

}  // namespace
}  // namespace banyan
