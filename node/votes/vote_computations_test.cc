#include "node/votes/vote_computations.h"

#include <limits>
#include <optional>
#include <vector>

#include "compression/counts/vote_decision.h"
#include "compression/vote_chunk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

VoteRules MeanRules() {
  VoteRules rules;
  rules.aggregate = VoteAggregate::kMean;
  return rules;
}

std::vector<float> ValuesOf(const Buffer& buffer) { return {buffer.floats().begin(), buffer.floats().end()}; }

std::vector<float> OfferedIn(const CastVote& cast) {
  std::vector<float> sums = ValuesOf(cast.gradient);
  for (size_t i = 0; i < sums.size() && !cast.residual.empty(); ++i) sums[i] += cast.residual.floats()[i];
  return sums;
}

TEST(CastVotesTest, WithoutResidualsNothingIsKept) {
  CastVotes cast({Buffer::CopyOf({1, -3, 2})}, {{{0, 2}, {0, 3}}, {{2, 1}, {0, 3}}}, VoteRules());
  cast.Run();
  EXPECT_EQ(cast.votes().size(), 2u);
  EXPECT_THAT(cast.cast(), IsEmpty());
}

TEST(CastVotesTest, ResidualsAreAddedAndTheLastVoterTakesUpWhatHasNone) {
  const Buffer gradient = Buffer::CopyOf({1, -3, 2});
  CastVotes::Residuals residuals = {{Buffer(), Buffer::CopyOf({10, 10}), Buffer::CopyOf({0, 1})},
                                    {Buffer::CopyOf({-5})}};
  CastVotes cast({gradient, gradient}, {{{0, 2}, {0, 3}}, {{2, 1}, {0, 3}}}, MeanRules(), std::move(residuals));
  cast.Run();
  ASSERT_EQ(cast.cast().size(), 2u);
  EXPECT_THAT(OfferedIn(cast.cast()[0][0]), ElementsAre(1, -3));
  EXPECT_THAT(OfferedIn(cast.cast()[0][1]), ElementsAre(11, 8));
  EXPECT_THAT(OfferedIn(cast.cast()[1][0]), ElementsAre(-3));
  EXPECT_THAT(OfferedIn(cast.cast()[1][1]), ElementsAre(2));
  EXPECT_THAT(ValuesOf(gradient), ElementsAre(1, -3, 2)) << "the worker's";
  EXPECT_EQ(DecodeVotes(cast.votes()[0]).weight(), 2);
}

TEST(CastVotesTest, EachSliceHasAScaleOfItsOwn) {
  CastVotes cast({Buffer::CopyOf({1, -3, 20, 40})}, {{{0, 1}, {0, 2}}, {{1, 1}, {0, 2}}, {{2, 2}, {2, 2}}},
                 VoteRules());
  cast.Run();
  const auto scale_of = [&](size_t chunk) { return DecodeVotes(cast.votes()[chunk]).scales().Mean(1); };
  EXPECT_EQ(scale_of(0), 2);
  EXPECT_EQ(scale_of(1), 2);
  EXPECT_EQ(scale_of(2), 30);
}

TEST(SettleVotesTest, TheResultAndWhatIsLeftAreWhatWasOffered) {
  for (const LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    VoteRules rules = MeanRules();
    rules.family = family;
    CastVotes cast({Buffer::CopyOf({1, -3, 0.25}), Buffer::CopyOf({4, 2, -2})}, {{{0, 3}, {0, 3}}}, rules,
                   CastVotes::Residuals(1));
    cast.Run();
    DecideVotesOfChunk decide(cast.votes()[0], rules);
    decide.Run();
    SettleVotes settle(std::move(cast.cast()[0]), decide.result());
    settle.Run();
    std::vector<float> result(3);
    DecodeChunk(decide.result(), absl::MakeSpan(result));
    const std::vector<float> offered = {5, -1, -1.75};
    for (size_t i = 0; i < offered.size(); ++i) {
      EXPECT_NEAR(2 * result[i] + settle.left()[0].floats()[i] + settle.left()[1].floats()[i], offered[i], 1e-6) << i;
    }
  }
}

TEST(SettleVotesTest, WhatIsNotFiniteDropsOut) {
  CastVotes cast({Buffer::CopyOf({1, std::numeric_limits<float>::infinity()})}, {{{0, 2}, {0, 2}}}, MeanRules(),
                 CastVotes::Residuals(1));
  cast.Run();
  DecideVotesOfChunk decide(cast.votes()[0], MeanRules());
  decide.Run();
  SettleVotes settle(std::move(cast.cast()[0]), decide.result());
  settle.Run();
  EXPECT_THAT(ValuesOf(settle.left()[0]), ElementsAre(0, 0));
}

TEST(SettleVotesTest, AResultThatSaysNothingLeavesAllOfIt) {
  CastVotes cast({Buffer::CopyOf({1, -3})}, {{{0, 2}, {0, 2}}}, MeanRules(), CastVotes::Residuals(1));
  cast.Run();
  SettleVotes settle(std::move(cast.cast()[0]), *CheckChunk(EncodedChunk(), 2));
  settle.Run();
  EXPECT_THAT(ValuesOf(settle.left()[0]), ElementsAre(1, -3));
}

}  // namespace
}  // namespace banyan
