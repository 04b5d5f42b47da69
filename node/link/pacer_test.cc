#include "node/link/pacer.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ConnectionId kFirst(1), kSecond(2), kThird(3);
constexpr double kPaceBps = 6e6;
constexpr int64_t kChunkBytes = 7500;  // 10 ms at kPaceBps

Timestamp At(int64_t milliseconds) { return Timestamp::FromNanoseconds(milliseconds * 1'000'000); }

class PacerTest : public ::testing::Test {
 protected:
  // What the pacer asks for when a chunk goes on each of `connections`: "2 at 3" is connection 2 at 3 Mbit/s.
  std::vector<std::string> Send(int64_t milliseconds, const std::vector<ConnectionId>& connections = {}) {
    Actions actions;
    pacer_.SendPaced(At(milliseconds), pace_bps_, chunks_, actions, [&] {
      for (const ConnectionId connection : connections) SendOn(connection, At(milliseconds), actions);
    });
    std::vector<std::string> asked;
    for (const Action& action : actions) {
      if (const auto* pace = std::get_if<Pace>(&action); pace != nullptr) {
        asked.push_back(absl::StrCat(pace->connection.value(), " at ", pace->rate_bps / 1e6));
      } else {
        asked.push_back("send");
      }
    }
    return asked;
  }

  double pace_bps_ = kPaceBps;
  int64_t size_bytes_ = kChunkBytes;
  LinkChunks chunks_{{kFirst, kSecond, kThird}, /*tiny_bytes=*/0};
  Pacer pacer_{{kFirst, kSecond, kThird}};

 private:
  void SendOn(ConnectionId connection, Timestamp now, Actions& actions) {
    auto chunk = std::make_shared<ChunkInFlight>();
    chunk->size_bytes = size_bytes_;
    chunks_.Send(std::move(chunk), connection, {}, now);
    pacer_.OnSent(connection, size_bytes_);
    actions.emplace_back(std::in_place_type<banyan::Send>, banyan::Send{connection, ChunkMessage(), {}});
  }
};

TEST_F(PacerTest, ThePaceComesBeforeWhatItIsFor) {
  EXPECT_THAT(Send(0, {kFirst, kSecond}), ElementsAre("1 at 3", "2 at 3", "send", "send"));
}

TEST_F(PacerTest, WhatIsAskedBeforeStaysBefore) {
  Actions actions;
  actions.emplace_back(std::in_place_type<Disconnect>, Disconnect{kThird});
  pacer_.SendPaced(At(0), pace_bps_, chunks_, actions, [] {});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Disconnect>(actions[0]));
}

TEST_F(PacerTest, ThePartsAddUpToThePaceOfTheLink) {
  EXPECT_THAT(Send(0, {kFirst}), ElementsAre("1 at 6", "send"));
  EXPECT_THAT(Send(0, {kSecond}), ElementsAre("1 at 3", "2 at 3", "send"));
  EXPECT_THAT(Send(0, {kThird}), ElementsAre("1 at 2", "2 at 2", "3 at 2", "send"));
}

TEST_F(PacerTest, AnUnchangedPaceIsNotToldAgain) {
  Send(0, {kFirst});
  EXPECT_THAT(Send(0, {kFirst}), ElementsAre("send"));
  EXPECT_THAT(Send(1), IsEmpty());
}

TEST_F(PacerTest, OneThatHasSentAllLeavesItsPartToTheOthers) {
  Send(0, {kFirst, kSecond, kSecond});
  // Half of the pace: 20 ms for each chunk.
  EXPECT_THAT(Send(19), IsEmpty());
  EXPECT_GT(pacer_.unsent_bytes(kFirst), 0);
  EXPECT_THAT(Send(20), ElementsAre("1 at 6", "2 at 6"));
  EXPECT_EQ(pacer_.unsent_bytes(kFirst), 0);
  EXPECT_DOUBLE_EQ(pacer_.unsent_bytes(kSecond), kChunkBytes);
  // Alone the second has the whole pace.
  Send(25);
  EXPECT_DOUBLE_EQ(pacer_.unsent_bytes(kSecond), kChunkBytes / 2);
}

TEST_F(PacerTest, UnsentBytesNeverFallBelowNothing) {
  Send(0, {kFirst});
  Send(10'000);
  EXPECT_EQ(pacer_.unsent_bytes(kFirst), 0);
  // A long rest is no credit.
  Send(10'000, {kFirst});
  EXPECT_DOUBLE_EQ(pacer_.unsent_bytes(kFirst), kChunkBytes);
}

TEST_F(PacerTest, OneThatHasNothingInFlightIsNotTold) {
  Send(0, {kFirst, kSecond});
  chunks_.Acknowledge(2);
  EXPECT_THAT(Send(20), ElementsAre("1 at 6"));
  // It is told with its next chunk.
  EXPECT_THAT(Send(20, {kSecond}), ElementsAre("2 at 6", "send"));
}

TEST_F(PacerTest, ALostConnectionLeavesItsPartToTheOthers) {
  Send(0, {kFirst, kSecond});
  pacer_.OnConnectionDown(kSecond);
  chunks_.OnConnectionDown(kSecond);
  EXPECT_EQ(pacer_.unsent_bytes(kSecond), 0);
  EXPECT_THAT(Send(0), ElementsAre("1 at 6"));
  // Ids of other links are ignored.
  pacer_.OnConnectionDown(ConnectionId(99));
}

TEST_F(PacerTest, SmallChunksHaveNoPace) {
  size_bytes_ = Pacer::kLeastPacedChunkBytes - 1;
  EXPECT_THAT(Send(0, {kFirst}), ElementsAre("send"));
  size_bytes_ = Pacer::kLeastPacedChunkBytes;
  // Still too small in the mean.
  EXPECT_THAT(Send(0, {kSecond}), ElementsAre("send"));
  chunks_.Acknowledge(1);
  EXPECT_THAT(Send(0), ElementsAre("2 at 3"));
}

TEST_F(PacerTest, ALinkWithoutAPaceHasNothingUnsent) {
  Send(0, {kFirst, kSecond});
  pace_bps_ = kUnpaced;
  EXPECT_THAT(Send(0), ElementsAre("1 at inf", "2 at inf"));
  EXPECT_EQ(pacer_.unsent_bytes(kFirst), 0);
  pace_bps_ = kPaceBps;
  // What was sent meanwhile counts as gone.
  EXPECT_THAT(Send(0), ElementsAre("1 at 6", "2 at 6"));
}

}  // namespace
}  // namespace banyan
