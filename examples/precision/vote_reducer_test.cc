#include <gtest/gtest.h>

#include "examples/precision/guided_training.h"

namespace banyan {
namespace {

const std::vector<std::vector<float>> kGradients = {{1, -1, 4}, {1, -3, -2}, {1, -2, -3}};

std::vector<absl::Span<const float>> Spans() {
  return std::vector<absl::Span<const float>>(kGradients.begin(), kGradients.end());
}

TEST(VoteReducerTest, FullPrecisionIsTheMean) {
  VoteReducer reducer(3, 3, VoteRules());
  std::vector<float> result(3);
  EXPECT_EQ(reducer.Reduce(Spans(), false, absl::MakeSpan(result)), 2 * 3 * 3 * 4);
  EXPECT_FLOAT_EQ(result[1], -2);
}

TEST(VoteReducerTest, VotesTakeABitEachAndTheirScales) {
  VoteReducer reducer(3, 3, VoteRules());
  std::vector<float> result(3);
  // Up: 16 bytes of scale and one of bits; down: form, scale and one of bits.
  EXPECT_EQ(reducer.Reduce(Spans(), true, absl::MakeSpan(result)), 3 * (16 + 1) + 3 * (1 + 4 + 1));
  EXPECT_EQ(result, (std::vector<float>{2, -2, -2}));
}

TEST(VoteReducerTest, WhatAveragedVotesLeaveOutComesWithTheNextFullRound) {
  VoteRules rules;
  rules.aggregate = VoteAggregate::kMean;
  VoteReducer reducer(3, 3, rules);
  std::vector<float> low_bit(3), full(3);
  reducer.Reduce(Spans(), true, absl::MakeSpan(low_bit));
  reducer.Reduce(Spans(), false, absl::MakeSpan(full));
  for (int i = 0; i < 3; ++i) {
    const float mean = (kGradients[0][i] + kGradients[1][i] + kGradients[2][i]) / 3;
    EXPECT_NEAR(low_bit[i] + full[i], 2 * mean, 1e-5) << i;
  }
}

}  // namespace
}  // namespace banyan
