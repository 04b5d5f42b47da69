#include "compression/counts/vote_decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

VoteCount CountOf(const std::vector<std::vector<float>>& voters, const VoteRules& rules) {
  VoteCount count(static_cast<int64_t>(voters[0].size()), HasZeroVotes(rules));
  for (const std::vector<float>& values : voters) count.Add(VoteCount::OfVoter(values, SliceScale(values), rules));
  return count;
}

std::vector<float> Result(const VoteDecision& decision) {
  std::vector<float> values(decision.elements());
  decision.WriteTo(absl::MakeSpan(values));
  return values;
}

TEST(VoteDecisionTest, BinaryIsTheMeanScaleWithTheSignOfTheMajority) {
  const VoteCount count = CountOf({{1, -1, 1}, {3, -3, -3}, {2, 2, -2}}, VoteRules());
  const VoteDecision decision(count, VoteRules());
  EXPECT_EQ(decision.bits_per_element(), 1);
  EXPECT_EQ(Result(decision), (std::vector<float>{2, -2, -2}));
}

TEST(VoteDecisionTest, ATieIsZeroOrAPlus) {
  VoteRules rules;
  const VoteCount count = CountOf({{1, -1, 1}, {1, -1, -1}}, rules);
  EXPECT_EQ(Result(VoteDecision(count, rules)), (std::vector<float>{1, -1, 0}));
  EXPECT_EQ(VoteDecision(count, rules).bits_per_element(), 2);
  rules.tie = TieRule::kPositive;
  EXPECT_EQ(Result(VoteDecision(count, rules)), (std::vector<float>{1, -1, 1}));
  EXPECT_EQ(VoteDecision(count, rules).bits_per_element(), 1);
}

TEST(VoteDecisionTest, TernaryVotersLeaveOutWhatIsSmall) {
  VoteRules rules;
  rules.family = LowBitFamily::kTernary;
  // Scales 1, 1 and 1: values of 0.7 and less do not count.
  const VoteCount count = CountOf({{1.5f, 0.5f, -1.0f}, {0.6f, -0.6f, -1.8f}, {-0.5f, 0.7f, 1.8f}}, rules);
  EXPECT_EQ(Result(VoteDecision(count, rules)), (std::vector<float>{1, 0, -1}));
}

TEST(VoteDecisionTest, TheRootsGateMakesZerosOfWhatIsClose) {
  VoteRules rules;
  rules.family = LowBitFamily::kTernary;
  rules.gate = ZeroGate::kResult;
  rules.tie = TieRule::kPositive;  // G-Binary's alone
  const VoteCount two = CountOf({{1, -1, 1}, {1, -1, -1}}, rules);
  EXPECT_EQ(Result(VoteDecision(two, rules)), (std::vector<float>{1, -1, 0}));
  rules.result_margin = 0.5;
  const VoteCount four = CountOf({{1, 1, -1}, {1, 1, -1}, {1, 1, 1}, {1, -1, 1}}, rules);
  EXPECT_EQ(Result(VoteDecision(four, rules)), (std::vector<float>{1, 0, 0}));
}

TEST(VoteDecisionTest, NobodysVotesAreZero) {
  for (VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
    VoteRules rules;
    rules.aggregate = aggregate;
    rules.tie = TieRule::kPositive;
    EXPECT_EQ(Result(VoteDecision(VoteCount(3, false), rules)), (std::vector<float>{0, 0, 0}));
  }
}

TEST(VoteDecisionTest, AScaleThatIsNotFiniteSpoilsAllOfIt) {
  const std::vector<float> values = {1.0f, INFINITY};
  for (float result : Result(VoteDecision(CountOf({values}, VoteRules()), VoteRules()))) {
    EXPECT_TRUE(std::isnan(result));
  }
}

// What the definitions say of one element.
float Expected(int64_t votes_for, int64_t votes_against, int64_t voters, float scale, const VoteRules& rules) {
  const int64_t lead = votes_for - votes_against;
  if (rules.aggregate == VoteAggregate::kMean) return static_cast<float>(lead) * (scale / static_cast<float>(voters));
  const bool at_root = rules.family == LowBitFamily::kTernary && rules.gate == ZeroGate::kResult;
  if (at_root && static_cast<double>(std::abs(lead)) <= rules.result_margin * static_cast<double>(voters)) return 0;
  if (lead == 0) return !HasZeroVotes(rules) && rules.tie == TieRule::kPositive && !at_root ? scale : 0;
  return lead > 0 ? scale : -scale;
}

VoteRules RandomRules(Random& random) {
  VoteRules rules;
  rules.family = random.Chance(0.5) ? LowBitFamily::kBinary : LowBitFamily::kTernary;
  rules.gate = random.Chance(0.5) ? ZeroGate::kSender : ZeroGate::kResult;
  rules.aggregate = random.Chance(0.5) ? VoteAggregate::kMajority : VoteAggregate::kMean;
  rules.tie = random.Chance(0.5) ? TieRule::kZero : TieRule::kPositive;
  rules.result_margin = 0.1 + 0.5 * random.Unit();
  return rules;
}

TEST(VoteDecisionTest, IsWhatTheDefinitionsSay) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const VoteRules rules = RandomRules(random);
    const int64_t elements = random.Between(1, 700);
    const int64_t voters = random.Between(1, 20);
    std::vector<std::vector<float>> gradients(voters, std::vector<float>(elements));
    std::vector<int64_t> votes_for(elements), votes_against(elements);
    for (std::vector<float>& values : gradients) {
      for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
      const float scale = SliceScale(values);
      const float threshold = HasZeroVotes(rules) ? static_cast<float>(rules.sender_threshold * scale) : 0;
      for (int64_t i = 0; i < elements; ++i) {
        votes_for[i] += values[i] > threshold ? 1 : 0;
        votes_against[i] += HasZeroVotes(rules) ? (values[i] < -threshold ? 1 : 0) : (values[i] > 0 ? 0 : 1);
      }
    }
    const VoteCount count = CountOf(gradients, rules);
    const std::vector<float> result = Result(VoteDecision(count, rules));
    for (int64_t i = 0; i < elements; ++i) {
      ASSERT_EQ(result[i], Expected(votes_for[i], votes_against[i], voters, count.scales().Mean(voters), rules))
          << "round " << round << " element " << i << ": " << votes_for[i] << " : " << votes_against[i];
    }
  }
}

}  // namespace
}  // namespace banyan
