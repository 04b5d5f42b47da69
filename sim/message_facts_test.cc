#include "sim/message_facts.h"

#include <set>

#include "gtest/gtest.h"

namespace banyan {
namespace {

ChunkMessage SomeChunk() {
  ChunkMessage chunk;
  chunk.id.round = Round(2);
  chunk.id.key = KeyId(3);
  chunk.id.chunk = ChunkIndex(7);
  chunk.route.path = {NodeId(1), NodeId(4), NodeId(5)};
  chunk.weight = 2;
  chunk.link_sequence = 9;
  return chunk;
}

TEST(MessageFactsTest, TextNamesWhatTellsAMessageFromOthers) {
  EXPECT_EQ(DescribeMessage(SomeChunk()), "chunk key 3 round 2 chunk 7 reduce 1>4>5 hop 0 weight 2 seq 9");
  EXPECT_EQ(DescribeMessage(StatusReply()), "status-reply");
  EXPECT_EQ(DescribeMessage(JobFailed{Term(1), absl::StatusCode::kUnavailable, "node n4 is lost"}),
            "job-failed: node n4 is lost");
}

TEST(MessageFactsTest, EachHopAddsToTheHeader) {
  ChunkMessage direct = SomeChunk();
  direct.route.path = {NodeId(1), NodeId(5)};
  EXPECT_EQ(HeaderBytes(SomeChunk()), HeaderBytes(direct) + 8);
}

TEST(MessageFactsTest, DigestsDifferWithTheIds) {
  std::set<uint64_t> digests = {MessageDigest(SomeChunk())};
  ChunkMessage chunk = SomeChunk();
  chunk.id.half = Half::kBroadcast;
  digests.insert(MessageDigest(chunk));
  chunk = SomeChunk();
  chunk.route.path[1] = NodeId(6);
  digests.insert(MessageDigest(chunk));
  chunk = SomeChunk();
  chunk.link_sequence = 10;
  digests.insert(MessageDigest(chunk));
  EXPECT_EQ(digests.size(), 4u);
  EXPECT_EQ(MessageDigest(SomeChunk()), MessageDigest(SomeChunk()));
}

TEST(MessageFactsTest, APayloadsBytesAreInTheEventsDigest) {
  const float one[] = {1.0f};
  const float two[] = {2.0f};
  MessageReceived first{ConnectionId(1), SomeChunk(), {Buffer::CopyOf(one)}};
  MessageReceived second{ConnectionId(1), SomeChunk(), {Buffer::CopyOf(two)}};
  EXPECT_NE(EventDigest(Event(std::move(first))), EventDigest(Event(std::move(second))));
}

}  // namespace
}  // namespace banyan
