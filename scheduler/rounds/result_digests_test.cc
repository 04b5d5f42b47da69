#include "scheduler/rounds/result_digests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint32_t kKeys = 12;
constexpr size_t kMembers = 3;

class ResultDigestsTest : public ::testing::Test {
 protected:
  // A member reports keys `first` to `last` of a round, whose digests are as their numbers unless one is `wrong`.
  ResultDigests::Differences Report(uint32_t node, uint32_t first, uint32_t last, uint32_t wrong = 0,
                                    uint64_t round = 5) {
    uint64_t digest = 0;
    for (uint32_t key = first; key <= last; ++key) digest += key == wrong ? 1000 : key;
    return digests_.Report(NodeId(node), Round(round), KeyId(first), KeyId(last), digest, kMembers);
  }

  ResultDigests digests_;
};

TEST_F(ResultDigestsTest, WhatAllConfirmIsForgotten) {
  for (uint32_t node = 1; node <= kMembers; ++node) {
    EXPECT_TRUE(Report(node, 1, 9).empty());
    if (node < kMembers) Report(node, 1, 9);  // said again
    EXPECT_EQ(digests_.size(), node < kMembers ? 1u : 0u);
  }
}

TEST_F(ResultDigestsTest, ADifferenceNamesKeysAndMembers) {
  Report(2, 1, 3);
  Report(2, 4, 4);
  Report(3, 1, 3);
  EXPECT_TRUE(Report(3, 4, 4, 4).empty()) << "it is not known who is wrong";
  const auto differences = Report(1, 4, 4);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_TRUE(differences[0].is_outlier);
  EXPECT_EQ(differences[0].round, Round(5));
  EXPECT_EQ(differences[0].first_key, KeyId(4));
  EXPECT_EQ(differences[0].last_key, KeyId(4));
  EXPECT_EQ(differences[0].node, NodeId(3));
  EXPECT_EQ(differences[0].digest, 1000u);
  EXPECT_EQ(differences[0].other, NodeId(1));
  EXPECT_EQ(differences[0].other_digest, 4u);
}

TEST_F(ResultDigestsTest, WhoSpeaksFirstMayBeTheOneThatIsWrong) {
  Report(1, 1, 4, 2);
  Report(2, 1, 4);
  const auto differences = Report(3, 1, 4);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_TRUE(differences[0].is_outlier);
  EXPECT_EQ(differences[0].node, NodeId(1));
  EXPECT_EQ(differences[0].other_digest, 1u + 2 + 3 + 4);
}

TEST_F(ResultDigestsTest, WithoutAMajorityNobodyIsAnOutlier) {
  Report(1, 1, 4, 1);
  Report(2, 1, 4, 2);
  const auto all_differ = Report(3, 1, 4, 4);
  ASSERT_EQ(all_differ.size(), 1u);
  EXPECT_FALSE(all_differ[0].is_outlier);
  digests_.Clear();
  // One says nothing.
  Report(1, 1, 4, 1);
  EXPECT_TRUE(digests_.NoteUnread(NodeId(3), Round(5), kMembers).empty());
  const auto two_differ = Report(2, 1, 4);
  ASSERT_EQ(two_differ.size(), 1u);
  EXPECT_FALSE(two_differ[0].is_outlier);
}

TEST_F(ResultDigestsTest, EachOutlierIsToldOnce) {
  const auto report = [this](uint32_t node, uint64_t digest) {
    return digests_.Report(NodeId(node), Round(5), KeyId(1), KeyId(4), digest, 7);
  };
  for (const uint32_t node : {1, 2, 3}) EXPECT_TRUE(report(node, 10).empty());
  EXPECT_TRUE(report(4, 11).empty());
  EXPECT_EQ(report(5, 10).size(), 1u);
  const auto later = report(6, 12);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].node, NodeId(6));
  EXPECT_TRUE(report(7, 10).empty());
  EXPECT_EQ(digests_.size(), 0u);
}

TEST_F(ResultDigestsTest, RunsAreComparedWhereTheyEndAtTheSameKeys) {
  Report(1, 1, 5);
  Report(2, 1, 3);
  Report(2, 4, 9, 7);
  Report(3, 1, 9);
  const auto differences = Report(1, 6, 9);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].node, NodeId(2));
  EXPECT_EQ(differences[0].first_key, KeyId(1));
  EXPECT_EQ(differences[0].last_key, KeyId(9));
}

TEST_F(ResultDigestsTest, RoundsHaveNothingToDoWithEachOther) {
  Report(1, 1, 5, 0, 5);
  Report(3, 1, 5, 0, 5);
  EXPECT_TRUE(Report(2, 1, 5, 3, 6).empty());
  EXPECT_FALSE(Report(2, 1, 5, 3, 5).empty());
}

TEST_F(ResultDigestsTest, WhatStaysUnknownIsToldInTheEnd) {
  Report(1, 1, 5);
  EXPECT_TRUE(Report(2, 1, 5, 3).empty());
  size_t told = 0;
  for (uint64_t round = 6; round < 6 + ResultDigests::kMostRounds; ++round) told += Report(1, 1, 2, 0, round).size();
  EXPECT_EQ(told, 1u);
}

TEST_F(ResultDigestsTest, RoundsAreBounded) {
  for (uint64_t round = 0; round < 3 * ResultDigests::kMostRounds; ++round) Report(1, 1, 2, 0, round);
  EXPECT_EQ(digests_.size(), ResultDigests::kMostRounds);
  digests_.Clear();
  EXPECT_EQ(digests_.size(), 0u);
}

// Cuts the keys into runs at random.
std::vector<std::pair<uint32_t, uint32_t>> AnyRuns(Random& random) {
  std::vector<std::pair<uint32_t, uint32_t>> runs;
  for (uint32_t first = 1; first <= kKeys;) {
    const auto last = static_cast<uint32_t>(random.Between(first, kKeys));
    runs.emplace_back(first, last);
    first = last + 1;
  }
  for (size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random.Below(i)]);
  return runs;
}

// Whatever the members cut where, and in which order they speak: a wrong result is found, and a right one is not.
TEST_F(ResultDigestsTest, AWrongResultIsFoundHoweverRunsAreCut) {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    digests_.Clear();
    const auto wrong = static_cast<uint32_t>(random.Below(kKeys + 1));  // 0: none
    const auto liar = static_cast<uint32_t>(random.Between(1, kMembers));
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> runs;
    for (size_t member = 0; member < kMembers; ++member) runs.push_back(AnyRuns(random));
    bool found = false;
    while (std::any_of(runs.begin(), runs.end(), [](const auto& left) { return !left.empty(); })) {
      const auto node = static_cast<uint32_t>(random.Between(1, kMembers));
      if (runs[node - 1].empty()) continue;
      const auto [first, last] = runs[node - 1].back();
      runs[node - 1].pop_back();
      for (const auto& difference : Report(node, first, last, node == liar ? wrong : 0)) {
        found = true;
        ASSERT_TRUE(difference.is_outlier && difference.node == NodeId(liar)) << "seed " << seed;
      }
    }
    ASSERT_EQ(found, wrong != 0) << "seed " << seed;
    ASSERT_TRUE(found || digests_.size() == 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace banyan
