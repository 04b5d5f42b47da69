// Counts through random trees against a count in one place.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "core/random.h"

namespace banyan {
namespace {

struct Node {
  int parent = 0;
  VoteCount own;
};

VoteRules RandomRules(Random& random) {
  VoteRules rules;
  rules.family = random.Chance(0.5) ? LowBitFamily::kBinary : LowBitFamily::kTernary;
  rules.gate = random.Chance(0.5) ? ZeroGate::kSender : ZeroGate::kResult;
  rules.aggregate = random.Chance(0.5) ? VoteAggregate::kMajority : VoteAggregate::kMean;
  return rules;
}

VoteCount RandomVote(Random& random, int64_t elements, const VoteRules& rules) {
  std::vector<float> values(elements);
  for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
  return VoteCount::OfVoter(values, SliceScale(values), rules);
}

// What a node sends: as bytes, and read again by its parent.
VoteCount Travelled(const VoteCount& count, bool has_zero_votes) {
  const absl::StatusOr<VoteCount> read =
      DecodeCount(EncodeCount(count), count.elements(), count.weight(), has_zero_votes);
  EXPECT_TRUE(read.ok()) << read.status();
  return *read;
}

// Sums up a tree whose nodes' numbers grow away from the root, each node's children in any order and any grouping.
VoteCount SumUpTree(Random& random, const std::vector<Node>& nodes, bool has_zero_votes) {
  std::vector<std::vector<VoteCount>> arrived(nodes.size());
  for (int node = static_cast<int>(nodes.size()) - 1; node >= 0; --node) {
    std::vector<VoteCount> parts = std::move(arrived[node]);
    parts.push_back(nodes[node].own);
    for (size_t i = parts.size() - 1; i > 0; --i) std::swap(parts[i], parts[random.Below(i + 1)]);
    std::vector<const VoteCount*> all;
    for (const VoteCount& part : parts) all.push_back(&part);
    VoteCount sum = VoteCount::SumOf(all);
    if (random.Chance(0.5)) {
      sum = parts[0];
      for (size_t i = 1; i < parts.size(); ++i) sum.Add(parts[i]);
    }
    if (node == 0) return sum;
    arrived[nodes[node].parent].push_back(Travelled(sum, has_zero_votes));
  }
  return nodes[0].own;
}

TEST(VoteTreeTest, AThousandRandomTreesCountAsOnePlaceDoes) {
  Random random(35);
  for (int tree = 0; tree < 1000; ++tree) {
    const VoteRules rules = RandomRules(random);
    const bool has_zero_votes = HasZeroVotes(rules);
    const int64_t elements = random.Between(1, 400);
    std::vector<Node> nodes;
    VoteCount central(elements, has_zero_votes);
    const int64_t count = random.Between(1, 30);
    for (int64_t node = 0; node < count; ++node) {
      const int parent = node == 0 ? 0 : static_cast<int>(random.Below(node));
      nodes.push_back({parent, VoteCount(elements, has_zero_votes)});
      // Some nodes have no worker, some have many.
      const int64_t workers = random.Chance(0.2) ? 0 : random.Between(1, random.Chance(0.1) ? 20 : 3);
      for (int64_t worker = 0; worker < workers; ++worker) {
        const VoteCount vote = RandomVote(random, elements, rules);
        nodes.back().own.Add(vote);
        central.Add(vote);
      }
    }
    const VoteCount summed = SumUpTree(random, nodes, has_zero_votes);
    ASSERT_EQ(summed, central) << "tree " << tree;
    const VoteDecision decision(summed, rules);
    ASSERT_EQ(EncodeDecision(decision), EncodeDecision(VoteDecision(central, rules))) << "tree " << tree;
  }
}

}  // namespace
}  // namespace banyan
