#include "node/peers/chunk_sender.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/neighbour_table_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChunkSenderTest : public NeighbourTableFixture {
 protected:
  ChunkSenderTest() {
    AddNeighbours();
    sender_.AddPolicy(PolicyWithAuxiliaryPath());
    // One chunk at a time.
    At(2).link.Resize({.size_bytes = 1});
  }

  // Sends chunks of 1000 bytes to node 2. Returns those of them that take the auxiliary path.
  std::vector<uint32_t> Send(uint32_t first, uint32_t last) {
    StepContext step = Now();
    for (uint32_t chunk = first; chunk <= last; ++chunk) {
      sender_.Send(step, FullChunk(chunk, {1, 2}), Bytes(1000));
    }
    return SentOn(kSecondData);
  }
  std::vector<uint32_t> SentOn(ConnectionId connection) {
    std::vector<uint32_t> chunks;
    for (const auto& [on, chunk] : Sent<ChunkMessage>()) {
      if (on == connection) chunks.push_back(chunk.id.chunk.value());
    }
    return chunks;
  }
  // Returns what takes the auxiliary path now.
  std::vector<uint32_t> Fill() {
    StepContext step = Now();
    sender_.Fill(step);
    return SentOn(kSecondData);
  }
  // The neighbour has the oldest chunk on the link to it.
  void AcknowledgeOn(uint32_t neighbour, uint64_t sequence) {
    const std::optional<PeerLink::Sent> sent = At(neighbour).link.OnLinkAck(sequence, now_);
    ASSERT_TRUE(sent.has_value());
    sender_.OnLinkAck(*sent->chunk, /*is_delivered=*/false, now_);
  }
  void Refuse(uint32_t refuser, uint32_t chunk) {
    StepContext step = Now();
    sender_.OnBusy(step, {{{NodeId(refuser), NodeId(1)}, 0}, {Id(chunk)}});
  }
  static ChunkId Id(uint32_t chunk) { return FullChunk(chunk, {1, 2}).id; }

  ChunkSender sender_{NodeId(1), absl::Seconds(2), &table_};
};

TEST_F(ChunkSenderTest, ABusyPrimaryPathSharesWithAnAuxiliaryPath) {
  EXPECT_THAT(Send(1, 7), ElementsAre(2, 3));
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(1));
  const ChunkMessage second = Sent<ChunkMessage>()[1].second;
  EXPECT_TRUE(second.is_auxiliary);
  EXPECT_THAT(second.route.path, ElementsAre(NodeId(1), NodeId(3), NodeId(2)));
  EXPECT_EQ(second.route.hop, 0u);
}

TEST_F(ChunkSenderTest, ARefusalOfWhatIsStillAtItsLinkSaysNothing) {
  Send(1, 2);
  Refuse(3, 2);
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  EXPECT_EQ(At(2).link.queued_bytes(), 0);
  AcknowledgeOn(3, 1);
  Refuse(3, 2);
  EXPECT_GT(At(2).link.queued_bytes(), 1000);
}

TEST_F(ChunkSenderTest, AnAuxiliaryPathTakesMoreWhenItsChunksAreDelivered) {
  EXPECT_THAT(Send(1, 5), ElementsAre(2, 3));
  EXPECT_THAT(Fill(), IsEmpty());
  sender_.OnDelivered(NodeId(2), Id(2), now_);
  EXPECT_THAT(Fill(), ElementsAre(4));
  sender_.DropRound(Id(3).key, Id(3).round);
  EXPECT_EQ(sender_.selector().BytesOn({NodeId(1), NodeId(3), NodeId(2)}), 0);
  EXPECT_THAT(Fill(), IsEmpty());
}

TEST_F(ChunkSenderTest, NothingIsOnItsWayAfterAllChunksAreDropped) {
  EXPECT_THAT(Send(1, 5), ElementsAre(2, 3));
  sender_.Clear();
  table_.DropChunks();
  EXPECT_THAT(Send(6, 10), ElementsAre(7, 8));
}

TEST_F(ChunkSenderTest, WhatHasArrivedChangesItsPathNoMore) {
  EXPECT_THAT(Send(1, 5), ElementsAre(2, 3));
  for (const uint32_t chunk : {2, 4}) sender_.OnDelivered(NodeId(2), Id(chunk), now_);
  EXPECT_THAT(Fill(), ElementsAre(5));
}

TEST_F(ChunkSenderTest, AnAuxiliaryPathWhoseFirstLinkHasNoRoomTakesNothing) {
  Down(kSecondData);
  EXPECT_THAT(Send(1, 5), IsEmpty());
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(1));
}

TEST_F(ChunkSenderTest, WithoutThePrimaryLinkEverythingTakesTheAuxiliaryPath) {
  Down(kFirstData);
  EXPECT_THAT(Send(1, 3), ElementsAre(1, 2));
}

TEST_F(ChunkSenderTest, ChunksOfOthersKeepTheirPath) {
  for (uint32_t chunk = 1; chunk <= 3; ++chunk) {
    ChunkMessage message = FullChunk(chunk, {3, 1, 2});
    message.route.hop = 1;
    At(2).link.Enqueue(std::move(message), Bytes(1000));
  }
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_GT(At(2).link.queued_bytes(), 3000);
}

TEST_F(ChunkSenderTest, WhatAnAuxiliaryPathHasFailedTakesThePrimaryPath) {
  EXPECT_THAT(Send(1, 2), ElementsAre(2));
  for (const uint32_t neighbour : {2, 3}) AcknowledgeOn(neighbour, 1);
  sender_.OnDelivered(NodeId(2), Id(1), now_);
  now_ = now_ + absl::Seconds(60);
  StepContext step = Now();
  sender_.ResendOverdue(step);
  ASSERT_THAT(SentOn(kFirstData), ElementsAre(2));
  const ChunkMessage again = Sent<ChunkMessage>()[0].second;
  EXPECT_FALSE(again.is_auxiliary);
  EXPECT_THAT(again.route.path, ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_GT(At(2).link.counters().resent_bytes, 1000u);
}

TEST_F(ChunkSenderTest, AChunkOfThePrimaryPathIsSentAgainOnIt) {
  Send(1, 1);
  AcknowledgeOn(2, 1);
  now_ = now_ + absl::Seconds(60);
  StepContext step = Now();
  sender_.ResendOverdue(step);
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(1));
}

TEST_F(ChunkSenderTest, AChunkWhosePrimaryPathBeginsWithNoNeighbourKeepsItsPath) {
  PolicySlice slice = Policy({2, 3});
  slice.version = PolicyVersion(2);
  slice.routes = {{{NodeId(1), NodeId(9), NodeId(2)}, 8e6, absl::ZeroDuration()}};
  sender_.AddPolicy(slice);
  ChunkMessage message = FullChunk(8, {1, 3, 2});
  message.is_auxiliary = true;
  message.policy = PolicyVersion(2);
  StepContext first = Now();
  sender_.Send(first, std::move(message), Bytes(1000));
  AcknowledgeOn(3, 1);
  now_ = now_ + absl::Seconds(60);
  StepContext step = Now();
  sender_.ResendOverdue(step);
  EXPECT_THAT(SentOn(kSecondData), ElementsAre(8));
}

TEST_F(ChunkSenderTest, AProbeThatWaitsForALostNeighbourIsDropped) {
  const auto probe = std::make_shared<ChunkInFlight>(FullChunk(1, {1, 3, 2}), Bytes(1000));
  probe->message.is_auxiliary = true;
  StepContext step = Now();
  sender_.SendOnPrimary(step, probe);
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  EXPECT_EQ(At(2).link.queued_bytes(), 0);
}

TEST_F(ChunkSenderTest, AProbeIsACopyBesideTheChunkItself) {
  EXPECT_THAT(Send(1, 1), IsEmpty());
  At(2).link.OnLinkAck(1, now_);
  now_ = now_ + LinkProber::kShortestInterval;
  EXPECT_THAT(Send(2, 2), ElementsAre(2));
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(2));
  EXPECT_EQ(sender_.tracker().size(), 2u);
  // It is none of the two chunks that the path takes besides.
  EXPECT_EQ(sender_.selector().BytesOn({NodeId(1), NodeId(3), NodeId(2)}), 0);
}

TEST_F(ChunkSenderTest, AnEmptyContributionIsNoProbe) {
  Send(1, 1);
  At(2).link.OnLinkAck(1, now_);
  now_ = now_ + LinkProber::kShortestInterval;
  StepContext step = Now();
  sender_.Send(step, Chunk(2, {1, 2}), {});
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(1));
}

TEST_F(ChunkSenderTest, TheMeterIsNotLookedAtWithEveryChunk) {
  sender_.LookAtMeter(At(2), now_);
  EXPECT_EQ(At(2).measured_at, now_);
  sender_.LookAtMeter(At(2), now_ + absl::Milliseconds(99));
  EXPECT_EQ(At(2).measured_at, now_);
  sender_.LookAtMeter(At(2), now_ + absl::Milliseconds(100));
  EXPECT_EQ(At(2).measured_at, now_ + absl::Milliseconds(100));
}

TEST_F(ChunkSenderTest, WithoutAuxiliaryPathsNothingIsMovedProbedOrLookedAt) {
  ChunkSender none{NodeId(1), absl::Seconds(2), &table_};
  none.AddPolicy(Policy({2, 3}));
  for (int i = 0; i < 2; ++i) {
    StepContext step = Now();
    none.Send(step, FullChunk(1, {1, 2}), Bytes(1000));
    none.Fill(step);
    EXPECT_THAT(SentOn(kSecondData), IsEmpty());
    now_ = now_ + LinkProber::kShortestInterval;
  }
  none.LookAtMeter(At(2), now_);
  EXPECT_EQ(At(2).measured_at, Timestamp());
}

}  // namespace
}  // namespace banyan
