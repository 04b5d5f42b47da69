#include "node/peers/relay.h"

#include <cstdint>
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

class RelayTest : public NeighbourTableFixture {
 protected:
  RelayTest() {
    AddNeighbours();
    Add(4);
  }

  // Forwards a chunk of 1000 bytes that is now on the first link of `path`.
  std::optional<Busy> Forward(uint32_t chunk, std::vector<uint32_t> path, bool is_auxiliary = false) {
    const NodeId from(path[0]);
    ChunkMessage message = FullChunk(chunk, std::move(path));
    message.is_auxiliary = is_auxiliary;
    StepContext step = Now();
    return relay_.Forward(step, from, std::move(message), Bytes(1000));
  }
  // The next hop acknowledges the chunk of this link sequence on the link to `to`.
  void Acknowledge(uint32_t to, uint64_t sequence) {
    const std::optional<PeerLink::Sent> sent = At(to).link.OnLinkAck(sequence, now_);
    ASSERT_TRUE(sent.has_value());
    relay_.OnForwarded(sent->chunk->message);
  }
  std::vector<NodeId> Granted() {
    std::vector<NodeId> sources;
    for (const Grant& grant : relay_.TakeGrants()) sources.push_back(grant.route.destination());
    return sources;
  }

  Trimmer trimmer_{TrimmingConfig(), NodeId(1)};
  Relay relay_{{.size_bytes = 3000, .denied_sources = 2}, &table_, &trimmer_};
};

TEST_F(RelayTest, AChunkGoesOnToTheNextHop) {
  EXPECT_FALSE(Forward(1, {2, 1, 3}).has_value());
  ASSERT_THAT(Sent<ChunkMessage>(), SizeIs(1));
  const auto [connection, chunk] = Sent<ChunkMessage>()[0];
  EXPECT_EQ(connection, kSecondData);
  EXPECT_EQ(chunk.route.hop, 1u);
  EXPECT_EQ(chunk.route.receiver(), NodeId(3));
  EXPECT_GT(relay_.size_bytes(), 1000);
  Acknowledge(3, 1);
  EXPECT_EQ(relay_.size_bytes(), 0);
}

TEST_F(RelayTest, WhatFindsNoRoomIsAnsweredBusyAndGrantedRoomOnceTheQueuesAreHalfEmpty) {
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3});
  const std::optional<Busy> refusal = Forward(3, {2, 1, 3});
  ASSERT_TRUE(refusal.has_value());
  EXPECT_THAT(refusal->route.path, ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_THAT(refusal->chunks, ElementsAre(FullChunk(3, {2, 1, 3}).id));
  EXPECT_THAT(Sent<ChunkMessage>(), IsEmpty());
  EXPECT_THAT(Granted(), IsEmpty());
  Acknowledge(3, 1);
  EXPECT_THAT(Granted(), ElementsAre(NodeId(2)));
  EXPECT_THAT(Granted(), IsEmpty());
}

TEST_F(RelayTest, OneChunkOfEachNeighbourAlwaysFindsRoom) {
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3});
  EXPECT_TRUE(Forward(3, {2, 1, 3}).has_value());
  EXPECT_FALSE(Forward(4, {3, 1, 2}).has_value());
  EXPECT_TRUE(Forward(5, {3, 1, 2}).has_value());
  EXPECT_GT(relay_.size_bytes(), 3000);
  // The source behind node 3 is granted room as soon as none of node 3's chunks waits, however full the queues are.
  EXPECT_THAT(Granted(), IsEmpty());
  Forward(6, {4, 1, 3});
  Acknowledge(2, 1);
  EXPECT_THAT(Granted(), ElementsAre(NodeId(3)));
}

TEST_F(RelayTest, AChunkOnAnAuxiliaryPathIsRefusedWithoutAGrant) {
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3});
  EXPECT_TRUE(Forward(3, {2, 1, 3}, /*is_auxiliary=*/true).has_value());
  Acknowledge(3, 1);
  Acknowledge(3, 2);
  EXPECT_THAT(Granted(), IsEmpty());
}

TEST_F(RelayTest, WithoutAConnectionToTheNextHopOnlyAuxiliaryPathsAreRefused) {
  Down(kSecondData);
  EXPECT_TRUE(Forward(1, {2, 1, 3}, /*is_auxiliary=*/true).has_value());
  EXPECT_EQ(relay_.size_bytes(), 0);
  EXPECT_FALSE(Forward(2, {2, 1, 3}).has_value());
  EXPECT_GT(relay_.size_bytes(), 1000);
}

TEST_F(RelayTest, AChunkToANodeThatIsNoNeighbourIsRejected) {
  EXPECT_FALSE(Forward(1, {2, 1, 9}).has_value());
  EXPECT_EQ(rejections_.total(), 1u);
  const std::optional<Busy> refusal = Forward(2, {2, 1, 9}, /*is_auxiliary=*/true);
  EXPECT_EQ(rejections_.total(), 2u);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->route.destination(), NodeId(2));
  EXPECT_EQ(relay_.size_bytes(), 0);
}

TEST_F(RelayTest, AChunkThatIsGivenUpMakesRoomAndIsAnsweredBusy) {
  At(3).link.Resize({.size_bytes = 1});
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3}, /*is_auxiliary=*/true);
  Down(kSecondData);
  const std::vector<ChunkPtr> queued = At(3).link.TakeAuxiliary();
  ASSERT_THAT(queued, SizeIs(1));
  const Busy refusal = relay_.GiveUp(std::move(queued[0]->message));
  EXPECT_THAT(refusal.route.path, ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_THAT(refusal.chunks, ElementsAre(FullChunk(2, {2, 1, 3}).id));
  EXPECT_FALSE(Forward(3, {2, 1, 3}).has_value());
}

TEST_F(RelayTest, RefusedSourcesAreRememberedWithinABound) {
  At(3).link.Resize({.size_bytes = 1});
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3});
  for (uint32_t source : {5, 6, 7}) {
    ChunkMessage message = FullChunk(3, {source, 2, 1, 3});
    message.route.hop = 1;
    StepContext step = Now();
    EXPECT_TRUE(relay_.Forward(step, NodeId(2), std::move(message), Bytes(1000)).has_value());
  }
  Acknowledge(3, 1);
  EXPECT_THAT(Granted(), ElementsAre(NodeId(5), NodeId(6)));
}

TEST_F(RelayTest, ForgetsRefusedSourcesAndChunks) {
  Forward(1, {2, 1, 3});
  Forward(2, {2, 1, 3});
  Forward(3, {2, 1, 3});
  table_.DropChunks();
  relay_.Clear();
  EXPECT_THAT(Granted(), IsEmpty());
  EXPECT_EQ(relay_.size_bytes(), 0);
  EXPECT_FALSE(Forward(4, {2, 1, 3}).has_value());
}

}  // namespace
}  // namespace banyan
