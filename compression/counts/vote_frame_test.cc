#include "compression/counts/vote_frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace banyan {
namespace {

VoteRules Ternary() {
  VoteRules rules;
  rules.family = LowBitFamily::kTernary;
  return rules;
}

VoteCount RandomCount(Random& random, int64_t elements, int64_t voters, const VoteRules& rules) {
  VoteCount count(elements, HasZeroVotes(rules));
  std::vector<float> values(elements);
  for (int64_t voter = 0; voter < voters; ++voter) {
    for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
    count.Add(VoteCount::OfVoter(values, SliceScale(values), rules));
  }
  return count;
}

std::vector<float> Result(const VoteDecision& decision) {
  std::vector<float> values(decision.elements());
  decision.WriteTo(absl::MakeSpan(values));
  return values;
}

TEST(VoteFrameTest, CountsComeBackAndTakeTheBitsOfTheirWeight) {
  Random random(1);
  for (const VoteRules& rules : {VoteRules(), Ternary()}) {
    for (int64_t elements : {0, 1, 7, 8, 63, 64, 65, 1000}) {
      for (int64_t voters : {0, 1, 2, 5}) {
        const VoteCount count = RandomCount(random, elements, voters, rules);
        const std::vector<uint8_t> bytes = EncodeCount(count);
        EXPECT_EQ(static_cast<int64_t>(bytes.size()), 16 + (elements + 7) / 8 * count.bits_per_element());
        const absl::StatusOr<VoteCount> back = DecodeCount(bytes, elements, voters, HasZeroVotes(rules));
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_EQ(*back, count);
      }
    }
  }
}

TEST(VoteFrameTest, DecisionsComeBack) {
  Random random(2);
  for (VoteRules rules : {VoteRules(), Ternary()}) {
    for (VoteAggregate aggregate : {VoteAggregate::kMajority, VoteAggregate::kMean}) {
      rules.aggregate = aggregate;
      for (int64_t elements : {1, 9, 64, 700}) {
        for (int64_t voters : {1, 2, 3}) {
          const VoteDecision decision(RandomCount(random, elements, voters, rules), rules);
          const absl::StatusOr<VoteDecision> back = DecodeDecision(EncodeDecision(decision), elements);
          ASSERT_TRUE(back.ok()) << back.status();
          EXPECT_EQ(Result(*back), Result(decision));
        }
      }
    }
  }
}

TEST(VoteFrameTest, WhatIsMalformedIsRefused) {
  Random random(3);
  const VoteCount count = RandomCount(random, 100, 3, VoteRules());
  std::vector<uint8_t> bytes = EncodeCount(count);
  EXPECT_FALSE(DecodeCount(bytes, 100, 4, false).ok());
  EXPECT_FALSE(DecodeCount(bytes, 100, 3, true).ok());
  EXPECT_FALSE(DecodeCount(bytes, 200, 3, false).ok());
  EXPECT_EQ(DecodeCount(bytes, 100, -1, false).status().message(), "expected 0 to 1048575 votes in a count, got -1");
  EXPECT_FALSE(DecodeCount(bytes, 100, kMaxVotes + 1, false).ok());
  bytes.back() |= 0x80;
  EXPECT_FALSE(DecodeCount(bytes, 100, 3, false).ok());
  EXPECT_FALSE(DecodeDecision({}, 100).ok());
  EXPECT_FALSE(DecodeDecision({9, 0, 0}, 100).ok());
  EXPECT_FALSE(DecodeDecision({0, 0, 0, 0x80, 0xbf, 1}, 3).ok());     // a scale of -1
  EXPECT_FALSE(DecodeDecision({1, 0, 0, 0x80, 0x3f, 1, 1}, 3).ok());  // both directions
  EXPECT_FALSE(DecodeDecision({0, 0, 0, 0x80, 0x3f, 0x08}, 3).ok());  // a fourth element
  EXPECT_TRUE(DecodeDecision({1, 0, 0, 0x80, 0x3f, 1, 2}, 3).ok());
  EXPECT_FALSE(DecodeDecision({2, 1}, 3).ok());
}

TEST(VoteFrameTest, AnyBytesAreReadOrRefused) {
  Random random(4);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    const int64_t elements = random.Between(0, 40);
    std::vector<uint8_t> bytes(random.Below(40));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
    if (!bytes.empty() && random.Chance(0.9)) bytes[0] %= 4;
    const absl::StatusOr<VoteDecision> decision = DecodeDecision(bytes, elements);
    if (!decision.ok()) continue;
    ++read;
    EXPECT_EQ(Result(*decision).size(), static_cast<size_t>(elements));
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace banyan
