#include "scheduler/rounds/bindings.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr KeyId kKey(1);
constexpr PolicyVersion kPolicy(3);

TEST(BindingsTest, LeaseCoversItsRounds) {
  Bindings bindings(3);
  const Bindings::Binding binding = bindings.Bind(kKey, Round(5), kPolicy);
  EXPECT_EQ(binding, (Bindings::Binding{kKey, Round(5), Round(7), kPolicy, Attempt(0)}));
  EXPECT_EQ(bindings.Find(kKey, Round(4)), std::nullopt);
  EXPECT_EQ(bindings.Find(kKey, Round(5)), binding);
  EXPECT_EQ(bindings.Find(kKey, Round(7)), binding);
  EXPECT_EQ(bindings.Find(kKey, Round(8)), std::nullopt);
  EXPECT_EQ(bindings.Find(KeyId(2), Round(5)), std::nullopt);
}

TEST(BindingsTest, InitIsBoundSingly) {
  Bindings bindings(3);
  EXPECT_EQ(bindings.Bind(kKey, Round(0), kPolicy).last_round, Round(0));
  EXPECT_EQ(bindings.Bind(kKey, Round(4), kPolicy).last_round, Round(6));
}

TEST(BindingsTest, LeaseEndsBeforeTheNextOne) {
  Bindings bindings(5);
  bindings.Bind(kKey, Round(3), kPolicy);
  EXPECT_EQ(bindings.Bind(kKey, Round(1), kPolicy).last_round, Round(2));
}

TEST(BindingsTest, ForgetsALeaseWhenItsLastRoundIsClosed) {
  Bindings bindings(2);
  bindings.Bind(kKey, Round(1), kPolicy);
  bindings.Forget(kKey, Round(1));
  EXPECT_NE(bindings.Find(kKey, Round(2)), std::nullopt);
  bindings.Forget(kKey, Round(2));
  EXPECT_EQ(bindings.Find(kKey, Round(2)), std::nullopt);
  EXPECT_EQ(bindings.size(), 0u);
  bindings.Forget(kKey, Round(2));
}

TEST(BindingsTest, RestoresWhatDoesNotOverlap) {
  Bindings bindings(1);
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
  Bindings bindings(2);
  EXPECT_FALSE(bindings.OldestPolicy().has_value());
  bindings.Bind(KeyId(1), Round(1), PolicyVersion(3));
  bindings.Bind(KeyId(2), Round(1), PolicyVersion(4));
  bindings.Forget(KeyId(1), Round(1));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(3));
  bindings.Forget(KeyId(1), Round(2));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(4));
  EXPECT_TRUE(bindings.Restore({KeyId(1), Round(5), Round(5), PolicyVersion(2), Attempt(0)}));
  EXPECT_EQ(bindings.OldestPolicy(), PolicyVersion(2));
}

}  // namespace
}  // namespace banyan
