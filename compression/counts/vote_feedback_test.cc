#include "compression/counts/vote_feedback.h"

#include <gtest/gtest.h>

#include <vector>

#include "compression/counts/vote_decision.h"
#include "compression/testing/testing_samples.h"

namespace banyan {
namespace {

constexpr int64_t kElements = 700;
constexpr int kVoters = 5;

VoteRules MeanOf(LowBitFamily family) {
  VoteRules rules;
  rules.family = family;
  rules.aggregate = VoteAggregate::kMean;
  return rules;
}

TEST(VoteFeedbackTest, ResultsAndResidualsAccountForAllThatWasPushed) {
  for (LowBitFamily family : {LowBitFamily::kBinary, LowBitFamily::kTernary}) {
    const VoteRules rules = MeanOf(family);
    std::vector<VoteFeedback> voters(kVoters, VoteFeedback(kElements, rules));
    std::vector<double> pushed(kElements), received(kElements);
    for (int round = 0; round < 20; ++round) {
      VoteCount count(kElements, HasZeroVotes(rules));
      for (int voter = 0; voter < kVoters; ++voter) {
        const std::vector<float> gradient = GaussianSamples(kElements, round * kVoters + voter + 1);
        for (int64_t i = 0; i < kElements; ++i) pushed[i] += gradient[i];
        count.Add(voters[voter].Vote(gradient));
      }
      const VoteDecision decision(count, rules);
      std::vector<float> result(kElements);
      decision.WriteTo(absl::MakeSpan(result));
      for (int64_t i = 0; i < kElements; ++i) received[i] += result[i] * kVoters;
      for (VoteFeedback& voter : voters) voter.Settle(decision.scale());
    }
    for (int64_t i = 0; i < kElements; ++i) {
      double rest = 0;
      for (const VoteFeedback& voter : voters) rest += voter.residual()[i];
      ASSERT_NEAR(pushed[i], received[i] + rest, 1e-3) << i;
    }
  }
}

TEST(VoteFeedbackTest, AnAbandonedVoteLeavesAllOfItForLater) {
  VoteFeedback feedback(2, MeanOf(LowBitFamily::kBinary));
  feedback.Vote({1.0f, -3.0f});
  feedback.Abandon();
  EXPECT_EQ(feedback.TakeResidual(), (std::vector<float>{1.0f, -3.0f}));
  EXPECT_EQ(feedback.TakeResidual(), (std::vector<float>{0.0f, 0.0f}));
}

TEST(VoteFeedbackTest, SettlesWithTheScaleOfTheRound) {
  VoteFeedback feedback(2, MeanOf(LowBitFamily::kBinary));
  feedback.Vote({1.0f, -3.0f});
  feedback.Settle(1.5f);
  EXPECT_EQ(feedback.TakeResidual(), (std::vector<float>{-0.5f, -1.5f}));
}

}  // namespace
}  // namespace banyan
