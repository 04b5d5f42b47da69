#include "scheduler/rounds/bindings.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);
constexpr PolicyVersion kPolicy(3);

TEST(BindingsTest, LeaseCoversItsRounds) {
  Bindings bindings;
  const Bindings::Binding binding = bindings.Bind(kKey, Round(5), 3, kPolicy);
  EXPECT_EQ(binding, (Bindings::Binding{kKey, Round(5), Round(7), kPolicy, Attempt(0)}));
  EXPECT_EQ(bindings.Find(kKey, Round(4)), std::nullopt);
  EXPECT_EQ(bindings.Find(kKey, Round(5)), binding);
  EXPECT_EQ(bindings.Find(kKey, Round(7)), binding);
  EXPECT_EQ(bindings.Find(kKey, Round(8)), std::nullopt);
  EXPECT_EQ(bindings.Find(KeyId(2), Round(5)), std::nullopt);
}

TEST(BindingsTest, InitIsBoundSingly) {
  Bindings bindings;
  EXPECT_EQ(bindings.Bind(kKey, Round(0), 3, kPolicy).last_round, Round(0));
  EXPECT_EQ(bindings.Bind(kKey, Round(4), 3, kPolicy).last_round, Round(6));
}

TEST(BindingsTest, LeaseEndsBeforeTheNextOne) {
  Bindings bindings;
  bindings.Bind(kKey, Round(3), 5, kPolicy);
  EXPECT_EQ(bindings.Bind(kKey, Round(1), 5, kPolicy).last_round, Round(2));
}

TEST(BindingsTest, ForgetsALeaseWhenItsLastRoundIsClosed) {
  Bindings bindings;
  bindings.Bind(kKey, Round(1), 2, kPolicy);
  bindings.Forget(kKey, Round(1));
  EXPECT_NE(bindings.Find(kKey, Round(2)), std::nullopt);
  bindings.Forget(kKey, Round(2));
  EXPECT_EQ(bindings.Find(kKey, Round(2)), std::nullopt);
  EXPECT_EQ(bindings.size(), 0u);
  bindings.Forget(kKey, Round(2));
}

TEST(BindingsTest, RestoresWhatDoesNotOverlap) {
  Bindings bindings;
  EXPECT_TRUE(bindings.Restore({kKey, Round(2), Round(4), kPolicy, Attempt(1)}));
  EXPECT_TRUE(bindings.Restore({kKey, Round(5), Round(5), kPolicy, Attempt(0)}));
  EXPECT_TRUE(bindings.Restore({kKey, Round(0), Round(1), kPolicy, Attempt(0)}));
  EXPECT_FALSE(bindings.Restore({kKey, Round(4), Round(9), kPolicy, Attempt(0)}));
  EXPECT_FALSE(bindings.Restore({kKey, Round(1), Round(9), kPolicy, Attempt(0)}));
  EXPECT_FALSE(bindings.Restore({kKey, Round(9), Round(8), kPolicy, Attempt(0)}));
  EXPECT_EQ(bindings.Find(kKey, Round(3))->attempt, Attempt(1));
  EXPECT_EQ(bindings.size(), 3u);
}

TEST(BindingsTest, OldestPolicyIsThatOfAnOpenLease) {
  Bindings bindings;
  EXPECT_FALSE(bindings.OldestPolicy().has_value());
  bindings.Bind(KeyId(1), Round(1), 2, PolicyVersion(3));
  bindings.Bind(KeyId(2), Round(1), 2, PolicyVersion(4));
  bindings.Forget(KeyId(1), Round(1));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(3));
  bindings.Forget(KeyId(1), Round(2));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(4));
  EXPECT_TRUE(bindings.Restore({KeyId(1), Round(5), Round(5), PolicyVersion(2), Attempt(0)}));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(2));
}

TEST(BindingsTest, ACutMovesWhatIsLeftToALaterPolicy) {
  Bindings bindings;
  EXPECT_TRUE(bindings.Restore({kKey, Round(1), Round(9), kPolicy, Attempt(2), 100}));
  EXPECT_TRUE(bindings.Restore({kKey, Round(10), Round(12), PolicyVersion(4), Attempt(0)}));
  EXPECT_TRUE(bindings.Restore({kKey, Round(13), Round(14), PolicyVersion(5), Attempt(0)}));
  EXPECT_TRUE(bindings.Cut(kKey, Round(4), PolicyVersion(5)));
  const std::vector<Bindings::Binding> leases = bindings.LeasesOf(kKey);
  ASSERT_EQ(leases.size(), 4u);
  EXPECT_EQ(leases[0], (Bindings::Binding{kKey, Round(1), Round(3), kPolicy, Attempt(2), 100}));
  EXPECT_EQ(leases[1], (Bindings::Binding{kKey, Round(4), Round(9), PolicyVersion(5), Attempt(2), 0}));
  EXPECT_EQ(leases[2], (Bindings::Binding{kKey, Round(10), Round(12), PolicyVersion(5), Attempt(0), 0}));
  EXPECT_TRUE(bindings.HasBelow(kKey, PolicyVersion(5)));
  for (uint64_t round = 1; round <= 3; ++round) bindings.Forget(kKey, Round(round));
  EXPECT_FALSE(bindings.HasBelow(kKey, PolicyVersion(5)));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(5));
  EXPECT_EQ(bindings.size(), 3u);
  EXPECT_FALSE(bindings.Cut(kKey, Round(4), PolicyVersion(5))) << "nothing is left to move";
  EXPECT_FALSE(bindings.Cut(KeyId(2), Round(4), PolicyVersion(5)));
}

TEST(BindingsTest, ACutAfterTheLastRoundMovesNothingAndOneAtTheOldestOpenRoundAll) {
  Bindings bindings;
  bindings.Bind(kKey, Round(1), 4, kPolicy);
  bindings.Forget(kKey, Round(1));
  EXPECT_FALSE(bindings.Cut(kKey, Round(5), PolicyVersion(5)));
  EXPECT_EQ(bindings.OldestPolicy(), kPolicy);
  EXPECT_TRUE(bindings.Cut(kKey, Round(2), PolicyVersion(5), PrecisionRoute::kLowBit, 4000));
  EXPECT_EQ(bindings.LeasesOf(kKey).back(),
            (Bindings::Binding{kKey, Round(2), Round(4), PolicyVersion(5), Attempt(0), 4000, PrecisionRoute::kLowBit}));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(5));
  EXPECT_EQ(bindings.size(), 1u);
  for (uint64_t round = 2; round <= 4; ++round) bindings.Forget(kKey, Round(round));
  EXPECT_EQ(bindings.size(), 0u);
}

}  // namespace
}  // namespace banyan
