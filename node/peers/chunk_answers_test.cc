#include "node/peers/chunk_answers.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a chunk that is on the link after `hop` nodes of its path.
ChunkMessage Chunk(std::vector<uint32_t> path, uint32_t hop = 0) {
  ChunkMessage chunk;
  chunk.id.chunk = ChunkIndex(9);
  for (uint32_t node : path) chunk.route.path.emplace_back(node);
  chunk.route.hop = hop;
  return chunk;
}

std::vector<NodeId> Destinations(const std::vector<Grant>& grants) {
  std::vector<NodeId> destinations;
  for (const Grant& grant : grants) destinations.push_back(grant.route.destination());
  return destinations;
}

TEST(ChunkAnswersTest, AnAnswerGoesBackTheWayThatTheChunkHasCome) {
  const ChunkMessage chunk = Chunk({4, 3, 2, 1}, 1);
  const Busy refusal = BusyOf(chunk);
  EXPECT_THAT(refusal.route.path, ElementsAre(NodeId(2), NodeId(3), NodeId(4)));
  EXPECT_EQ(refusal.route.hop, 0u);
  EXPECT_THAT(refusal.chunks, ElementsAre(chunk.id));
  const DeliveryAck ack = DeliveryAckOf(Chunk({4, 3, 2, 1}, 2));
  EXPECT_THAT(ack.route.path, ElementsAre(NodeId(1), NodeId(2), NodeId(3), NodeId(4)));
  EXPECT_THAT(ack.chunks, ElementsAre(chunk.id));
}

TEST(ChunkAnswersTest, ASourceIsGrantedRoomOnceAlongItsNewestWay) {
  DeniedSources denied(10);
  EXPECT_TRUE(denied.empty());
  denied.Add(Chunk({4, 2, 1}, 1));
  denied.Add(Chunk({4, 3, 1}, 1));
  const std::vector<Grant> grants = denied.TakeGrants();
  ASSERT_EQ(grants.size(), 1u);
  EXPECT_THAT(grants[0].route.path, ElementsAre(NodeId(1), NodeId(3), NodeId(4)));
  EXPECT_TRUE(denied.empty());
}

TEST(ChunkAnswersTest, OnlyThoseAreGrantedRoomForWhomThereIsSome) {
  DeniedSources denied(10);
  denied.Add(Chunk({4, 2, 1}, 1));
  denied.Add(Chunk({5, 3, 1}, 1));
  EXPECT_THAT(Destinations(denied.TakeGrants([](NodeId first) { return first == NodeId(3); })), ElementsAre(NodeId(5)));
  EXPECT_THAT(Destinations(denied.TakeGrants()), ElementsAre(NodeId(4)));
}

TEST(ChunkAnswersTest, SourcesAreRememberedWithinABound) {
  DeniedSources denied(2);
  for (uint32_t source : {4, 5, 6}) denied.Add(Chunk({source, 1}));
  denied.Add(Chunk({4, 3, 1}, 1));  // one that is remembered already
  const std::vector<Grant> grants = denied.TakeGrants();
  EXPECT_THAT(Destinations(grants), ElementsAre(NodeId(4), NodeId(5)));
  EXPECT_THAT(grants[0].route.path, ElementsAre(NodeId(1), NodeId(3), NodeId(4)));
}

TEST(ChunkAnswersTest, OneChunkIsGrantedRoomOnce) {
  DeniedSources denied(10);
  denied.Add(Chunk({4, 2, 1}, 1));
  ChunkId other = Chunk({4}).id;
  other.chunk = ChunkIndex(8);
  EXPECT_FALSE(denied.TakeGrant(NodeId(4), other).has_value());
  EXPECT_FALSE(denied.TakeGrant(NodeId(5), Chunk({4}).id).has_value());
  const std::optional<Grant> grant = denied.TakeGrant(NodeId(4), Chunk({4}).id);
  ASSERT_TRUE(grant.has_value());
  EXPECT_THAT(grant->route.path, ElementsAre(NodeId(1), NodeId(2), NodeId(4)));
  EXPECT_THAT(grant->chunks, ElementsAre(Chunk({4}).id));
  EXPECT_FALSE(denied.TakeGrant(NodeId(4), Chunk({4}).id).has_value());
}

TEST(ChunkAnswersTest, NoneIsGrantedAfterClear) {
  DeniedSources denied(2);
  denied.Add(Chunk({4, 1}));
  denied.Clear();
  EXPECT_FALSE(denied.TakeGrant(NodeId(4), Chunk({4}).id).has_value());
  EXPECT_THAT(denied.TakeGrants(), IsEmpty());
}

}  // namespace
}  // namespace banyan
