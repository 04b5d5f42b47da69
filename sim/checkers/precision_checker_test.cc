#include "sim/checkers/precision_checker.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum PrecisionRoute;

constexpr KeyId kKey(1);

// A key of two slices, each of which is one chunk.
class PrecisionCheckerTest : public testing::Test {
 protected:
  PrecisionCheckerTest() {
    Send(KeysAssigned{Term(1), KeyTableVersion(1), {{kKey, "w", 12, 0, DataType::kFloat32, {8}}}});
    PolicySlice slice;
    slice.version = PolicyVersion(1);
    slice.chunk_max_elements = 8;
    Send(PolicyPublished{Term(1), slice});
  }
  void Send(const Message& message) {
    const SentMessage sent{
        .now = Timestamp(), .from = NodeId(1), .to = NodeId(2), .message = message, .payload = Payload()};
    slices_.OnSent(sent);
    membership_.OnSent(sent);
    checker_.OnSent(sent);
  }
  static KeyRoutes Routes(PrecisionRoute first, PrecisionRoute second = kPlain) {
    KeyRoutes routes(first);
    routes.Set(1, second);
    return routes;
  }
  static ChunkMessage Chunk(uint64_t round, PrecisionRoute route, CodecId codec, uint32_t slice = 0) {
    ChunkMessage chunk;
    chunk.id = {Epoch(1), Attempt(0), Round(round), kKey, ChunkIndex(slice), Half::kReduce};
    chunk.policy = PolicyVersion(1);
    chunk.route.path = {NodeId(1), NodeId(2)};
    chunk.precision = route;
    chunk.elements = slice == 0 ? 8 : 4;
    chunk.frames = {{codec, 0, chunk.elements, 8, 0}};
    return chunk;
  }
  static PolicyAnswer Bound(uint64_t first, uint64_t last, KeyRoutes routes, PolicyVersion policy = PolicyVersion(1)) {
    return {Term(1), Epoch(1), {{kKey, Round(first), Round(last), policy, Attempt(0), 0, routes}}};
  }

  Violations violations_;
  SliceRoutes slices_;
  MembershipWatch membership_;
  PrecisionChecker checker_{&slices_, &membership_, &violations_};
};

TEST_F(PrecisionCheckerTest, RoundsAndSlicesMayDiffer) {
  Send(Bound(1, 1, Routes(kLowBit, kFallback)));
  Send(Bound(2, 9, Routes(kFallback)));
  Send(Chunk(1, kLowBit, CodecId::kVoteCount));
  Send(Chunk(1, kLowBit, CodecId::kVoteDecision));
  Send(Chunk(1, kFallback, CodecId::kFp32, 1));
  Send(Chunk(2, kFallback, CodecId::kFp32));
  Send(Chunk(2, kPlain, CodecId::kFp32, 1));
  Send(Bound(1, 1, Routes(kLowBit, kFallback)));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker_.rounds(kLowBit), 1);
  EXPECT_EQ(checker_.rounds(kFallback), 2);
  EXPECT_EQ(checker_.mixed_rounds(), 1);
  EXPECT_THAT(checker_.slice_rounds().at({kKey, 0}), ElementsAre(0, 1, 1));
  EXPECT_THAT(checker_.slice_rounds().at({kKey, 1}), ElementsAre(1, 1, 0));
}

TEST_F(PrecisionCheckerTest, AChunkGoesOnTheRouteOfItsSlice) {
  Send(Bound(1, 1, Routes(kLowBit, kFallback)));
  Send(Chunk(1, kLowBit, CodecId::kVoteCount, 1));
  EXPECT_THAT(violations_.Report(), HasSubstr("route low-bit in slice 1, which the answer gives route fallback"));
}

TEST_F(PrecisionCheckerTest, ChunksEndWhereTheBordersOfTheKeyAre) {
  Send(Bound(1, 1, Routes(kPlain)));
  ChunkMessage chunk = Chunk(1, kPlain, CodecId::kFp32);
  chunk.elements = 7;
  Send(chunk);
  EXPECT_THAT(violations_.Report(), HasSubstr("has 7 elements, the key's borders give it 8"));
}

TEST_F(PrecisionCheckerTest, ThereIsNoChunkBehindTheLast) {
  Send(Bound(1, 1, Routes(kPlain)));
  Send(Chunk(1, kPlain, CodecId::kFp32, 2));
  EXPECT_THAT(violations_.Report(), HasSubstr("has 4 elements, the key's borders give it 0"));
}

TEST_F(PrecisionCheckerTest, WhoWasLeftBehindMayBeginARoundOnItsOldRoute) {
  Send(Bound(1, 1, Routes(kPlain)));
  Send(Bound(1, 1, Routes(kLowBit), PolicyVersion(2)));
  PolicySlice slice;
  slice.version = PolicyVersion(2);
  slice.chunk_max_elements = 8;
  Send(PolicyPublished{Term(1), slice});
  Send(Bound(1, 1, Routes(kLowBit), PolicyVersion(2)));
  ChunkMessage chunk = Chunk(1, kLowBit, CodecId::kVoteCount);
  chunk.id.epoch = Epoch(2);
  chunk.policy = PolicyVersion(2);
  Send(chunk);
  Send(Chunk(1, kPlain, CodecId::kFp32));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

// Node 2 is sent the policy of an epoch of its own, which node 1 may have left.
TEST_F(PrecisionCheckerTest, WhatWhoFellOutHasBegunAloneBindsNobody) {
  for (const uint32_t members : {2, 1}) {
    SCOPED_TRACE(members);
    Send(Bound(members, members, Routes(kPlain)));
    Send(Chunk(members, kPlain, CodecId::kFp32));
    PolicySlice slice;
    slice.version = PolicyVersion(2);
    slice.epoch = Epoch(4 - members);
    slice.member_count = members;
    slice.chunk_max_elements = 8;
    slice.trees.resize(1);
    slice.trees[0].root = members == 1 ? NodeId(2) : NodeId(1);
    Send(PolicyPublished{Term(1), slice});
    EXPECT_TRUE(violations_.empty()) << violations_.Report();
    Send(Bound(members, members, Routes(kLowBit), PolicyVersion(2)));
    EXPECT_EQ(violations_.empty(), members == 1) << violations_.Report();
    violations_ = {};
  }
}

TEST_F(PrecisionCheckerTest, ANewEpochKeepsTheRouteOfASliceThatHasBegun) {
  Send(Bound(1, 1, Routes(kPlain, kLowBit)));
  Send(Chunk(1, kLowBit, CodecId::kVoteCount, 1));
  EpochPlan plan;
  plan.epoch = Epoch(2);
  plan.policy = PolicyVersion(2);
  plan.bindings = {{kKey, kKey, Round(1), Round(1), Attempt(1), 8, Routes(kPlain)}};
  Send(plan);
  EXPECT_THAT(violations_.Report(), HasSubstr("round 1 is bound to route plain in slice 1 after low-bit"));
  ChunkMessage chunk = Chunk(1, kPlain, CodecId::kFp32, 1);
  chunk.id.epoch = Epoch(2);
  chunk.policy = PolicyVersion(2);
  Send(chunk);
  EXPECT_THAT(violations_.Report(), HasSubstr("route plain after low-bit in slice 1"));
}

TEST_F(PrecisionCheckerTest, FramesFitTheRoute) {
  Send(Chunk(1, kLowBit, CodecId::kFp32));
  EXPECT_THAT(violations_.Report(), HasSubstr("0 frames of votes in a round of route low-bit"));
  Send(Chunk(2, kPlain, CodecId::kVoteCount));
  EXPECT_THAT(violations_.Report(), HasSubstr("1 frames of votes in a round of route plain"));
}

}  // namespace
}  // namespace banyan
