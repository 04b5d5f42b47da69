#include "node/peers/auxiliary_paths.h"

#include <cstdint>
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

class AuxiliaryPathsTest : public NeighbourTableFixture {
 protected:
  AuxiliaryPathsTest() {
    AddNeighbours();
    paths_.AddPolicy(PolicyWithAuxiliaryPath());
    // One chunk at a time.
    At(2).link.Resize({.size_bytes = 1});
  }

  // Sends chunks of 1000 bytes to node 2. Returns those of them that take the auxiliary path.
  std::vector<uint32_t> Send(uint32_t first, uint32_t last) {
    StepContext step = Now();
    for (uint32_t chunk = first; chunk <= last; ++chunk) {
      tracker_.Add(FullChunk(chunk, {1, 2}), Bytes(1000));
      paths_.Send(step, FullChunk(chunk, {1, 2}), Bytes(1000));
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
    paths_.Fill(step);
    return SentOn(kSecondData);
  }
  static ChunkId Id(uint32_t chunk) { return FullChunk(chunk, {1, 2}).id; }
  // Returns the chunk as it is on its way on the auxiliary path.
  static DeliveryTracker::Undelivered OnAuxiliary(uint32_t chunk) {
    ChunkMessage message = FullChunk(chunk, {1, 3, 2});
    message.is_auxiliary = true;
    return {std::move(message), Bytes(1000)};
  }

  DeliveryTracker tracker_{absl::Seconds(2)};
  AuxiliaryPaths paths_{NodeId(1), &table_, &tracker_};
};

TEST_F(AuxiliaryPathsTest, ABusyPrimaryPathSharesWithAnAuxiliaryPath) {
  EXPECT_THAT(Send(1, 7), ElementsAre(2, 3));
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(1));
  const ChunkMessage second = Sent<ChunkMessage>()[1].second;
  EXPECT_TRUE(second.is_auxiliary);
  EXPECT_THAT(second.route.path, ElementsAre(NodeId(1), NodeId(3), NodeId(2)));
  EXPECT_EQ(second.route.hop, 0u);
}

TEST_F(AuxiliaryPathsTest, TheTrackerKnowsWhichPathAChunkTakes) {
  Send(1, 2);
  // A link ack on another path than the chunk's own says nothing of it; then its refusal there says nothing either.
  tracker_.OnLinkAck(FullChunk(2, {1, 2}), now_);
  EXPECT_THAT(tracker_.TakeAuxiliary(NodeId(3), Id(2)), IsEmpty());
  tracker_.OnLinkAck(OnAuxiliary(2).message, now_);
  EXPECT_THAT(tracker_.TakeAuxiliary(NodeId(3), Id(2)), SizeIs(1));
}

TEST_F(AuxiliaryPathsTest, AnAuxiliaryPathTakesMoreWhenItsChunksAreDelivered) {
  EXPECT_THAT(Send(1, 5), ElementsAre(2, 3));
  EXPECT_THAT(Fill(), IsEmpty());
  paths_.OnDelivered(NodeId(2), Id(2), now_);
  EXPECT_THAT(Fill(), ElementsAre(4));
  paths_.OnDropped(NodeId(2), Id(3));
  EXPECT_THAT(Fill(), ElementsAre(5));
}

TEST_F(AuxiliaryPathsTest, NothingIsOnItsWayAfterAllChunksAreDropped) {
  EXPECT_THAT(Send(1, 5), ElementsAre(2, 3));
  paths_.DropChunks();
  EXPECT_THAT(Fill(), ElementsAre(4, 5));
}

TEST_F(AuxiliaryPathsTest, AnAuxiliaryPathWhoseFirstLinkHasNoRoomTakesNothing) {
  Down(kSecondData);
  EXPECT_THAT(Send(1, 5), IsEmpty());
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(1));
}

TEST_F(AuxiliaryPathsTest, WithoutThePrimaryLinkEverythingTakesTheAuxiliaryPath) {
  Down(kFirstData);
  EXPECT_THAT(Send(1, 3), ElementsAre(1, 2));
}

TEST_F(AuxiliaryPathsTest, ChunksOfOthersKeepTheirPath) {
  for (uint32_t chunk = 1; chunk <= 3; ++chunk) {
    ChunkMessage message = FullChunk(chunk, {3, 1, 2});
    message.route.hop = 1;
    At(2).link.Enqueue(std::move(message), Bytes(1000));
  }
  EXPECT_THAT(Fill(), IsEmpty());
  EXPECT_GT(At(2).link.queued_bytes(), 3000);
}

TEST_F(AuxiliaryPathsTest, WhatAnAuxiliaryPathHasFailedTakesThePrimaryPath) {
  StepContext step = Now();
  paths_.Resend(step, OnAuxiliary(8));
  ASSERT_THAT(SentOn(kFirstData), ElementsAre(8));
  const ChunkMessage again = Sent<ChunkMessage>()[0].second;
  EXPECT_FALSE(again.is_auxiliary);
  EXPECT_THAT(again.route.path, ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_GT(At(2).link.counters().resent_bytes, 1000u);
}

TEST_F(AuxiliaryPathsTest, AChunkOfThePrimaryPathIsSentAgainOnIt) {
  StepContext step = Now();
  paths_.Resend(step, {FullChunk(8, {1, 2}), Bytes(1000)});
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(8));
}

TEST_F(AuxiliaryPathsTest, AChunkWhosePrimaryPathBeginsWithNoNeighbourKeepsItsPath) {
  PolicySlice slice = Policy({2, 3});
  slice.version = PolicyVersion(2);
  slice.routes = {{{NodeId(1), NodeId(9), NodeId(2)}, 8e6, absl::ZeroDuration()}};
  paths_.AddPolicy(slice);
  DeliveryTracker::Undelivered chunk = OnAuxiliary(8);
  chunk.message.policy = PolicyVersion(2);
  StepContext step = Now();
  paths_.Resend(step, std::move(chunk));
  EXPECT_THAT(SentOn(kSecondData), ElementsAre(8));
}

TEST_F(AuxiliaryPathsTest, AProbeIsACopyBesideTheChunkItself) {
  EXPECT_THAT(Send(1, 1), IsEmpty());
  At(2).link.OnLinkAck(1, now_);
  now_ = now_ + LinkProber::kShortestInterval;
  EXPECT_THAT(Send(2, 2), ElementsAre(2));
  EXPECT_THAT(SentOn(kFirstData), ElementsAre(2));
  EXPECT_EQ(tracker_.size(), 2u);
  // It is none of the two chunks that the path takes besides.
  EXPECT_EQ(paths_.selector().BytesOn({NodeId(1), NodeId(3), NodeId(2)}), 0);
}

TEST_F(AuxiliaryPathsTest, AnEmptyContributionIsNoProbe) {
  Send(1, 1);
  At(2).link.OnLinkAck(1, now_);
  now_ = now_ + LinkProber::kShortestInterval;
  StepContext step = Now();
  paths_.Send(step, Chunk(2, {1, 2}), {});
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(1));
}

TEST_F(AuxiliaryPathsTest, TheMeterIsNotLookedAtWithEveryChunk) {
  paths_.LookAtMeter(At(2), now_);
  EXPECT_EQ(At(2).measured_at, now_);
  paths_.LookAtMeter(At(2), now_ + absl::Milliseconds(99));
  EXPECT_EQ(At(2).measured_at, now_);
  paths_.LookAtMeter(At(2), now_ + absl::Milliseconds(100));
  EXPECT_EQ(At(2).measured_at, now_ + absl::Milliseconds(100));
}

TEST_F(AuxiliaryPathsTest, WithoutAuxiliaryPathsNothingIsMovedProbedOrLookedAt) {
  AuxiliaryPaths none{NodeId(1), &table_, &tracker_};
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
