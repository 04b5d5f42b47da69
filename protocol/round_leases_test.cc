#include "protocol/round_leases.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr KeyId kKey(2);

RoundLeases::Lease Until(uint64_t last, uint64_t policy) { return {Round(last), PolicyVersion(policy), Attempt(0)}; }

std::vector<uint64_t> FirstsOf(const RoundLeases& leases, KeyId key) {
  std::vector<uint64_t> firsts;
  for (const auto& [start, lease] : leases.Of(key)) firsts.push_back(start.second.value());
  return firsts;
}

TEST(RoundLeasesTest, ALeaseCoversItsRoundsOfItsKey) {
  RoundLeases leases;
  EXPECT_TRUE(leases.Add(kKey, Round(5), Until(7, 3)));
  for (const uint64_t round : {4, 8}) EXPECT_EQ(leases.Find(kKey, Round(round)), leases.end());
  for (const uint64_t round : {5, 6, 7}) EXPECT_EQ(leases.Find(kKey, Round(round)), leases.begin());
  for (const uint32_t key : {1, 3}) {
    EXPECT_EQ(leases.Find(KeyId(key), Round(6)), leases.end());
    EXPECT_TRUE(leases.Of(KeyId(key)).empty());
  }
}

TEST(RoundLeasesTest, TakesWhatDoesNotOverlap) {
  RoundLeases leases;
  EXPECT_TRUE(leases.Add(kKey, Round(2), Until(4, 3)));
  EXPECT_TRUE(leases.Add(kKey, Round(5), Until(5, 3)));
  EXPECT_TRUE(leases.Add(kKey, Round(0), Until(1, 3)));
  EXPECT_TRUE(leases.Add(KeyId(1), Round(0), Until(9, 3)));
  EXPECT_TRUE(leases.Add(KeyId(3), Round(1), Until(9, 3)));
  EXPECT_FALSE(leases.Add(kKey, Round(4), Until(9, 3)));
  EXPECT_FALSE(leases.Add(kKey, Round(1), Until(9, 3)));
  EXPECT_FALSE(leases.Add(kKey, Round(9), Until(8, 3)));
  EXPECT_THAT(FirstsOf(leases, kKey), ElementsAre(0, 2, 5));
  EXPECT_EQ(leases.size(), 5u);
}

TEST(RoundLeasesTest, KnowsWhichPoliciesGovernRounds) {
  RoundLeases leases;
  EXPECT_EQ(leases.OldestPolicy(), std::nullopt);
  EXPECT_TRUE(leases.Add(kKey, Round(1), Until(2, 4)));
  EXPECT_TRUE(leases.Add(kKey, Round(3), Until(3, 4)));
  EXPECT_TRUE(leases.Add(KeyId(7), Round(1), Until(2, 6)));
  EXPECT_EQ(leases.OldestPolicy(), PolicyVersion(4));
  EXPECT_FALSE(leases.Governs(PolicyVersion(5)));
  leases.Erase(leases.Find(kKey, Round(1)));
  EXPECT_TRUE(leases.Governs(PolicyVersion(4)));
  leases.Erase(leases.Find(kKey, Round(3)));
  EXPECT_FALSE(leases.Governs(PolicyVersion(4)));
  EXPECT_EQ(leases.OldestPolicy(), PolicyVersion(6));
  leases.Clear();
  EXPECT_EQ(leases.OldestPolicy(), std::nullopt);
}

TEST(RoundLeasesTest, TakesAwayTheRestOfLeases) {
  const auto below = [](uint64_t policy) {
    return [policy](const RoundLeases::Lease& lease) { return lease.policy < PolicyVersion(policy); };
  };
  RoundLeases leases;
  EXPECT_TRUE(leases.Add(kKey, Round(1), Until(9, 3)));
  EXPECT_TRUE(leases.Add(kKey, Round(10), Until(12, 4)));
  EXPECT_TRUE(leases.Add(kKey, Round(13), Until(14, 5)));
  EXPECT_TRUE(leases.Add(KeyId(3), Round(1), Until(9, 3)));
  EXPECT_THAT(leases.TakeFrom(kKey, Round(4), below(5)),
              ElementsAre(Pair(Round(4), Until(9, 3)), Pair(Round(10), Until(12, 4))));
  EXPECT_THAT(FirstsOf(leases, kKey), ElementsAre(1, 13));
  EXPECT_EQ(leases.Find(kKey, Round(3))->second, Until(3, 3));
  EXPECT_FALSE(leases.Governs(PolicyVersion(4)));
  EXPECT_THAT(leases.TakeFrom(kKey, Round(4), below(5)), IsEmpty());
  EXPECT_THAT(leases.TakeFrom(kKey, Round(0), below(6)),
              ElementsAre(Pair(Round(1), Until(3, 3)), Pair(Round(13), Until(14, 5))));
  EXPECT_EQ(leases.size(), 1u);
}

}  // namespace
}  // namespace banyan
