#include "sim/checkers/precision_checker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::HasSubstr;

constexpr KeyId kKey(1);

class PrecisionCheckerTest : public testing::Test {
 protected:
  void Send(const Message& message) {
    checker_.OnSent({.now = Timestamp(), .from = NodeId(1), .to = NodeId(2), .message = message, .payload = {}});
  }
  static ChunkMessage Chunk(uint64_t round, PrecisionRoute route, CodecId codec) {
    ChunkMessage chunk;
    chunk.id = {Epoch(1), Attempt(0), Round(round), kKey, ChunkIndex(0), Half::kReduce};
    chunk.route.path = {NodeId(1), NodeId(2)};
    chunk.precision = route;
    chunk.frames = {{codec, 0, 8, 8, 0}};
    return chunk;
  }
  static PolicyAnswer Bound(uint64_t first, uint64_t last, PrecisionRoute route) {
    return {Term(1), Epoch(1), {{kKey, Round(first), Round(last), PolicyVersion(1), Attempt(0), 0, route}}};
  }

  Violations violations_;
  PrecisionChecker checker_{&violations_};
};

TEST_F(PrecisionCheckerTest, RoundsMayDiffer) {
  Send(Bound(1, 1, PrecisionRoute::kLowBit));
  Send(Chunk(1, PrecisionRoute::kLowBit, CodecId::kVoteCount));
  Send(Chunk(1, PrecisionRoute::kLowBit, CodecId::kVoteDecision));
  Send(Chunk(2, PrecisionRoute::kFallback, CodecId::kFp32));
  Send(Bound(1, 1, PrecisionRoute::kLowBit));
  Send(Bound(2, 9, PrecisionRoute::kFallback));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker_.rounds(PrecisionRoute::kLowBit), 1);
  EXPECT_EQ(checker_.rounds(PrecisionRoute::kFallback), 1);
}

TEST_F(PrecisionCheckerTest, ARoundHasOneRoute) {
  Send(Chunk(1, PrecisionRoute::kLowBit, CodecId::kVoteCount));
  Send(Chunk(1, PrecisionRoute::kPlain, CodecId::kFp32));
  EXPECT_THAT(violations_.Report(), HasSubstr("route plain after low-bit"));
}

TEST_F(PrecisionCheckerTest, WhoWasLeftBehindMayBeginARoundOnItsOldRoute) {
  ChunkMessage chunk = Chunk(1, PrecisionRoute::kLowBit, CodecId::kVoteCount);
  chunk.id.epoch = Epoch(2);
  Send(chunk);
  Send(Chunk(1, PrecisionRoute::kPlain, CodecId::kFp32));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(PrecisionCheckerTest, ANewEpochKeepsTheRouteOfARoundThatHasBegun) {
  Send(Chunk(1, PrecisionRoute::kLowBit, CodecId::kVoteCount));
  ChunkMessage chunk = Chunk(1, PrecisionRoute::kPlain, CodecId::kFp32);
  chunk.id.epoch = Epoch(2);
  Send(chunk);
  EXPECT_THAT(violations_.Report(), HasSubstr("route plain after low-bit"));
}

TEST_F(PrecisionCheckerTest, ABindingDoesNotChangeWhatWasSent) {
  Send(Chunk(3, PrecisionRoute::kLowBit, CodecId::kVoteCount));
  Send(Bound(2, 5, PrecisionRoute::kFallback));
  EXPECT_THAT(violations_.Report(), HasSubstr("round 3 is bound to route fallback after low-bit"));
}

TEST_F(PrecisionCheckerTest, FramesFitTheRoute) {
  Send(Chunk(1, PrecisionRoute::kLowBit, CodecId::kFp32));
  EXPECT_THAT(violations_.Report(), HasSubstr("0 frames of votes in a round of route low-bit"));
  Send(Chunk(2, PrecisionRoute::kPlain, CodecId::kVoteCount));
  EXPECT_THAT(violations_.Report(), HasSubstr("1 frames of votes in a round of route plain"));
}

}  // namespace
}  // namespace banyan
