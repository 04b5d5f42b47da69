#include "compression/counts/vote_count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace banyan {
namespace {

TEST(VoteCountTest, AVoteIsOneBitAndATernaryOneTwo) {
  const std::vector<float> values = {1.0f, -2.0f, 0.0f, 0.1f};
  const VoteCount binary = VoteCount::OfVoter(values, SliceScale(values), VoteRules());
  EXPECT_EQ(binary.bits_per_element(), 1);
  EXPECT_EQ(binary.planes(), std::vector<uint64_t>{0b1001});  // zero is not above zero
  EXPECT_EQ(binary.scales().Mean(1), 0.775f);
  VoteRules rules;
  rules.family = LowBitFamily::kTernary;
  const VoteCount ternary = VoteCount::OfVoter(values, SliceScale(values), rules);
  EXPECT_EQ(ternary.bits_per_element(), 2);
  EXPECT_EQ(ternary.planes(), (std::vector<uint64_t>{0b0001, 0b0010}));
}

TEST(VoteCountTest, TheRootsGateNeedsOneBitOfAVoter) {
  VoteRules rules;
  rules.family = LowBitFamily::kTernary;
  rules.gate = ZeroGate::kResult;
  const std::vector<float> values = {1.0f, -2.0f};
  EXPECT_EQ(VoteCount::OfVoter(values, 1, rules).bits_per_element(), 1);
}

TEST(VoteCountTest, CountsWidenAsTheyAddUp) {
  const std::vector<float> values(100, 1.0f);
  VoteCount sum(100, false);
  const std::vector<int> bits = {1, 2, 2, 3, 3, 3, 3, 4};
  for (int expected : bits) {
    sum.Add(VoteCount::OfVoter(values, 1, VoteRules()));
    EXPECT_EQ(sum.bits_per_element(), expected);
  }
  EXPECT_EQ(sum.weight(), 8);
}

TEST(VoteCountTest, ManyAtOnceAreTheSameAsOneByOne) {
  std::vector<VoteCount> votes;
  for (int voter = 0; voter < 100; ++voter) {
    std::vector<float> values(200);
    for (int i = 0; i < 200; ++i) values[i] = static_cast<float>((voter * 37 + i * 11) % 17) - 8;
    votes.push_back(VoteCount::OfVoter(values, SliceScale(values), VoteRules()));
  }
  std::vector<const VoteCount*> all;
  VoteCount one_by_one(200, false);
  for (const VoteCount& vote : votes) {
    all.push_back(&vote);
    one_by_one.Add(vote);
  }
  EXPECT_EQ(VoteCount::SumOf(all), one_by_one);
}

TEST(VoteCountTest, AGradientThatIsNotFiniteIsSeenInTheScale) {
  const std::vector<float> values = {1.0f, NAN};
  EXPECT_TRUE(std::isnan(SliceScale(values)));
  EXPECT_FALSE(VoteCount::OfVoter(values, SliceScale(values), VoteRules()).scales().is_finite());
  EXPECT_EQ(SliceScale({}), 0.0f);
}

TEST(VoteCountTest, PlanesWithMoreVotesThanVotersAreRefused) {
  // Weight 2: two planes, of which the numbers 0 to 2 are good and 3 is not.
  EXPECT_TRUE(VoteCount::OfPlanes(3, false, 2, ScaleSum(), {0b001, 0b110}).ok());
  EXPECT_EQ(VoteCount::OfPlanes(3, false, 2, ScaleSum(), {0b011, 0b110}).status().message(),
            "expected at most 2 votes on each element, as the count's weight says, got more; its sender counted "
            "wrongly or the bytes were changed");
  // One voter that is both for and against.
  EXPECT_TRUE(VoteCount::OfPlanes(2, true, 1, ScaleSum(), {0b01, 0b10}).ok());
  EXPECT_FALSE(VoteCount::OfPlanes(2, true, 1, ScaleSum(), {0b01, 0b01}).ok());
  EXPECT_EQ(VoteCount::OfPlanes(2, false, 1, ScaleSum(), {0b100}).status().message(),
            "expected zero bits after the counts of 2 elements, got others; the bytes were changed");
}

}  // namespace
}  // namespace banyan
