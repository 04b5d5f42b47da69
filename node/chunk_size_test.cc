#include "node/chunk_size.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "proto/wire.h"

namespace banyan {
namespace {

// A header as a busy job has it: numbers of several digits, one frame.
ChunkMessage TypicalChunk(uint32_t path_nodes = 2) {
  ChunkMessage message;
  message.id = {Epoch(3), Attempt(1), Round(5000), KeyId(120), ChunkIndex(40), Half::kBroadcast};
  message.policy = PolicyVersion(17);
  message.tree = TreeIndex(4);
  message.source_incarnation = Incarnation(uint64_t{1} << 60);
  for (uint32_t node = 1; node <= path_nodes; ++node) message.route.path.push_back(NodeId(node));
  message.weight = 2;
  message.elements = 65536;
  message.place = 700;
  message.frames = {{.elements = 65536, .size_bytes = 262144}};
  message.link_sequence = 1'000'000;
  message.sent_at = Timestamp::FromNanoseconds(int64_t{1} << 50);
  return message;
}

Payload Bytes(int64_t size) { return {Buffer::Allocate(size, DataType::kByte)}; }

TEST(ChunkSizeTest, FrameBytesAreThoseThatTheFrameHeadersState) {
  ChunkMessage message;
  EXPECT_EQ(FrameBytes(message), 0);
  message.frames = {{.size_bytes = 1000}, {.size_bytes = 1}, {.size_bytes = int64_t{1} << 40}};
  EXPECT_EQ(FrameBytes(message), 1001 + (int64_t{1} << 40));
}

TEST(ChunkSizeTest, OnALinkPayloadHeaderAndPathCount) {
  EXPECT_EQ(WireBytes(0, 2), kWireHeaderBytes + 2 * kWirePathEntryBytes);
  EXPECT_EQ(WireBytes(5000, 3) - WireBytes(0, 3), 5000);
  EXPECT_EQ(WireBytes(5000, 9) - WireBytes(5000, 2), 7 * kWirePathEntryBytes);
}

TEST(ChunkSizeTest, BothWaysToWeighAChunkOnALinkAgree) {
  for (const uint32_t path_nodes : {2u, 3u, 12u}) {
    Payload payload = Bytes(7000);
    payload.push_back(Buffer::Allocate(50, DataType::kByte));
    EXPECT_EQ(WireBytes(TypicalChunk(path_nodes), payload), WireBytes(7050, path_nodes));
    EXPECT_EQ(WireBytes(TypicalChunk(path_nodes), {}), WireBytes(0, path_nodes));
  }
}

TEST(ChunkSizeTest, TheConstantForAWireHeaderIsCloseToWhatIsEncoded) {
  for (const uint32_t path_nodes : {2u, 8u}) {
    const auto encoded_bytes = static_cast<int64_t>(EncodeMessage(TypicalChunk(path_nodes)).size());
    EXPECT_LT(encoded_bytes, 2 * WireBytes(0, path_nodes));
    EXPECT_GT(2 * encoded_bytes, WireBytes(0, path_nodes));
  }
}

TEST(ChunkSizeTest, InMemoryTheHeaderIsAnObjectWithItsFramesAndItsPath) {
  EXPECT_GE(kMemoryHeaderBytes, static_cast<int64_t>(sizeof(ChunkMessage) + sizeof(Payload)));
  ChunkMessage message = TypicalChunk();
  const int64_t small_bytes = KeptBytes(message, {});
  EXPECT_EQ(KeptBytes(message, Bytes(900)), small_bytes + 900);
  message.frames.resize(1 + 100);
  message.route.path.resize(2 + 1000);
  EXPECT_EQ(KeptBytes(message, {}),
            small_bytes + 100 * kMemoryFrameBytes + 1000 * static_cast<int64_t>(sizeof(NodeId)));
  EXPECT_GE(kMemoryFrameBytes, static_cast<int64_t>(sizeof(FrameHeader)));
}

TEST(ChunkSizeTest, TheBoundForLimitsHoldsForChunksOfOneFrame) {
  for (const uint32_t path_nodes : {2u, 16u}) {
    const ChunkMessage message = TypicalChunk(path_nodes);
    EXPECT_LE(10 * KeptBytes(message, Bytes(message.elements * SizeOf(DataType::kFloat32))),
              KeptBytes(10, message.elements));
  }
  EXPECT_EQ(KeptBytes(0, 65536), 0);
  EXPECT_GT(KeptBytes(1, 0), 0);
}

}  // namespace
}  // namespace banyan
