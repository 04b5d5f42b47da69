// Chunks of a PeerNetwork on auxiliary paths.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/peers/link_prober.h"
#include "node/testing/peer_network_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using AuxiliaryPathsOfPeersTest = PeerNetworkFixture;

TEST_F(AuxiliaryPathsOfPeersTest, ABusyPrimaryPathSharesWithAnAuxiliaryPath) {
  AddAuxiliaryPath();
  // One fits on the primary path before it counts as busy, two on the auxiliary path, and the rest waits for the
  // primary.
  EXPECT_THAT(SendTo2(1, 7), ElementsAre(2, 3));
  EXPECT_EQ(Sent<ChunkMessage>()[1].second.route.path, (std::vector<NodeId>{NodeId(1), NodeId(3), NodeId(2)}));
}

TEST_F(AuxiliaryPathsOfPeersTest, AProbeIsACopyThatNothingWaitsFor) {
  AddAuxiliaryPath();
  SendTo2(1, 1);
  Receive(LinkAck{{{1, now_, now_}}});
  now_ = now_ + LinkProber::kShortestInterval;
  EXPECT_THAT(SendTo2(2, 2), ElementsAre(2));
  EXPECT_THAT(Sent<ChunkMessage>(), SizeIs(2));
  EXPECT_EQ(network_.undelivered_bytes(), 2000);
  // The copy's link ack does not say that the chunk itself is on its way, and its relay may drop it.
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  Receive(Busy{{{NodeId(3), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  Receive(DeliveryAck{{{NodeId(2), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}});
  EXPECT_EQ(network_.undelivered_bytes(), 1000);
}

TEST_F(AuxiliaryPathsOfPeersTest, AnAuxiliaryPathThatHasRoomAgainTakesWhatWaits) {
  AddAuxiliaryPath();
  EXPECT_THAT(SendTo2(1, 12), ElementsAre(2, 3));
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  EXPECT_THAT(OnAuxiliaryPath(), IsEmpty());
  Receive(DeliveryAck{{{NodeId(2), NodeId(3), NodeId(1)}, 1}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  EXPECT_THAT(OnAuxiliaryPath(), ElementsAre(4));
}

TEST_F(AuxiliaryPathsOfPeersTest, WhatARelayRefusesTakesThePrimaryPath) {
  AddAuxiliaryPath();
  EXPECT_THAT(SendTo2(1, 2), ElementsAre(2));
  // Each link numbers its own chunks.
  Receive(LinkAck{{{1, now_, now_}}}, kInboundOf3);
  Receive(LinkAck{{{1, now_, now_}}});
  Receive(Busy{{{NodeId(3), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id}}, kInboundOf3);
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  EXPECT_FALSE(Sent<ChunkMessage>()[0].second.is_auxiliary);
  EXPECT_EQ(Sent<ChunkMessage>()[0].second.route.path, (std::vector<NodeId>{NodeId(1), NodeId(2)}));
}

TEST_F(AuxiliaryPathsOfPeersTest, WhatARelayRefusesStaysOnABusyPrimaryPath) {
  AddAuxiliaryPath();
  ASSERT_THAT(SendTo2(1, 7), ElementsAre(2, 3));
  Receive(LinkAck{{{1, now_, now_}, {2, now_, now_}}}, kInboundOf3);
  Receive(Busy{{{NodeId(3), NodeId(1)}, 0}, {Chunk(2, {1, 2}).id, Chunk(3, {1, 2}).id}}, kInboundOf3);
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty()) << "both wait for the primary path";
  // The others may try again.
  now_ = now_ + AuxiliarySelector::kFirstRefusal;
  Deadline(0);
  EXPECT_THAT(OnAuxiliaryPath(), IsEmpty());
  Deadline(1);
  EXPECT_THAT(OnAuxiliaryPath(), ElementsAre(4));
}

TEST_F(AuxiliaryPathsOfPeersTest, ADestinationThatNoPathReachesIsNotSentTheSameForEver) {
  AddAuxiliaryPath();
  StepContext step = Now();
  network_.OnConnectionDown(step, kDataTo2);
  size_t sent = SendTo2(1, 7).size();
  uint64_t acknowledged = 0;
  // The relay does not reach 2 either, and says so at once.
  for (int second = 0; second < 600; ++second) {
    for (std::vector<uint32_t> last = OnAuxiliaryPath(); !last.empty() && sent < 10'000; sent += last.size()) {
      LinkAck ack;
      Busy busy{{{NodeId(3), NodeId(1)}, 0}, {}};
      for (const uint32_t chunk : last) {
        ack.entries.push_back({++acknowledged, now_, now_});
        busy.chunks.push_back(Chunk(chunk, {1, 2}).id);
      }
      Receive(std::move(ack), kInboundOf3);
      Receive(std::move(busy), kInboundOf3);
      last = OnAuxiliaryPath();
    }
    Deadline(1);
    sent += OnAuxiliaryPath().size();
  }
  EXPECT_GT(sent, 20u) << "it may be reached again";
  EXPECT_LT(sent, 60u);
}

TEST_F(AuxiliaryPathsOfPeersTest, WithoutThePrimaryLinkEverythingTakesTheAuxiliaryPath) {
  AddAuxiliaryPath();
  StepContext step = Now();
  network_.OnConnectionDown(step, kDataTo2);
  EXPECT_THAT(SendTo2(1, 3), ElementsAre(1, 2));
}

TEST_F(AuxiliaryPathsOfPeersTest, ARelayThatCannotGoOnSaysSo) {
  AddAuxiliaryPath();
  StepContext step = Now();
  network_.OnConnectionDown(step, kDataTo3);
  ChunkMessage chunk = Chunk(5, {2, 1, 3});
  chunk.is_auxiliary = true;
  Receive(chunk);
  EXPECT_THAT(Sent<Busy>(), SizeIs(1));
  ChunkMessage primary = Chunk(6, {2, 1, 3});
  Receive(primary);
  EXPECT_THAT(Sent<Busy>(), IsEmpty());
}

}  // namespace
}  // namespace banyan
