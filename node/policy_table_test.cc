#include "node/policy_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_scheduler.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr KeyId kKey(1);

KeySlice Row(uint32_t key, const std::string& name, int64_t elements) { return {KeyId(key), name, elements}; }

PolicySlice Slice(uint64_t version) {
  PolicySlice slice = TestPlan::Star(3).Slice(1, JobConfig());
  slice.version = PolicyVersion(version);
  return slice;
}

PolicyAnswer::Binding Rounds(uint64_t first, uint64_t last, uint64_t policy, uint32_t attempt = 0) {
  return {kKey, Round(first), Round(last), PolicyVersion(policy), Attempt(attempt)};
}

TEST(PolicyTableTest, TheKeyTableGrowsInOrder) {
  PolicyTable policy_table;
  EXPECT_EQ(policy_table.AddKeys({Row(1, "a", 10), Row(2, "b", 20)}), absl::OkStatus());
  EXPECT_EQ(policy_table.AddKeys({Row(1, "a", 10), Row(2, "b", 20), Row(3, "c", 30)}), absl::OkStatus());
  EXPECT_FALSE(policy_table.AddKeys({Row(5, "e", 1)}).ok());
  EXPECT_FALSE(policy_table.AddKeys({Row(2, "b", 21)}).ok());
  ASSERT_NE(policy_table.FindKey("c"), nullptr);
  EXPECT_EQ(policy_table.FindKey("c")->key, KeyId(3));
  EXPECT_EQ(policy_table.FindKey(KeyId(2))->elements, 20);
  EXPECT_EQ(policy_table.FindKey("e"), nullptr);
  EXPECT_EQ(policy_table.FindKey(KeyId(5)), nullptr);
}

TEST(PolicyTableTest, PoliciesKnowKeysFromBeforeAndAfter) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 100000)}).ok());
  EXPECT_EQ(policy_table.newest_slice(), nullptr);
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddKeys({Row(2, "b", 10)}).ok());
  EXPECT_EQ(policy_table.AddSlice(Slice(4)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(policy_table.newest_slice()->version, PolicyVersion(4));
  ASSERT_TRUE(policy_table.AddBinding(Rounds(0, 0, 4)).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(0))->chunks->ChunksOf(kKey), 2u);
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(0))->chunks->ChunksOf(KeyId(2)), 1u);
}

TEST(PolicyTableTest, ALeaseThatEndsEarlyCanGoOnUnderItsPolicyOrALaterOne) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 100000)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(5)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 20, 4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(21, 30, 5)).ok());
  EXPECT_FALSE(policy_table.EndLeases(kKey, Round(31)));
  EXPECT_FALSE(policy_table.EndLeases(KeyId(2), Round(10)));
  EXPECT_TRUE(policy_table.EndLeases(kKey, Round(10)));
  EXPECT_TRUE(policy_table.FindBinding(kKey, Round(9)).has_value());
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(10)).has_value());
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(21)).has_value());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 12, 4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(13, 30, 5)).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(12))->slice->version, PolicyVersion(4));
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(13))->slice->version, PolicyVersion(5));
  EXPECT_FALSE(policy_table.AddBinding(Rounds(12, 13, 5)).ok()) << "round 12 has begun under policy 4 for all it knows";
  policy_table.Retire(PolicyVersion(5));
  EXPECT_EQ(policy_table.policies(), 2u);
  policy_table.Forget(kKey, Round(12));
  EXPECT_EQ(policy_table.policies(), 1u);
}

TEST(PolicyTableTest, APartOfALeaseMayBeToldAgainWithMore) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 100000)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(5, 9, 4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 20, 4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(7, 8, 4)).ok());
  for (uint64_t round = 1; round <= 20; ++round)
    EXPECT_TRUE(policy_table.FindBinding(kKey, Round(round)).has_value()) << round;
  policy_table.Retire(PolicyVersion(4));
  ASSERT_TRUE(policy_table.AddSlice(Slice(5)).ok());
  policy_table.Retire(PolicyVersion(5));
  EXPECT_EQ(policy_table.policies(), 2u);
  policy_table.Forget(kKey, Round(20));
  EXPECT_EQ(policy_table.policies(), 1u) << "it was counted once";
}

TEST(PolicyTableTest, ALeaseIsInTheChunksThatItsAnswerNames) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 100000)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  PolicyAnswer::Binding binding = Rounds(1, 1, 4, 1);
  binding.chunk_max_elements = 10000;
  ASSERT_TRUE(policy_table.AddBinding(binding).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(2, 2, 4)).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(1))->chunks->ChunksOf(kKey), 10u);
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(2))->chunks->ChunksOf(kKey), 2u);
}

TEST(PolicyTableTest, TheNextLeaseIsAskedForWhenAThirdOfOneIsUsedUp) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(3)), Round(3));
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 12, 4)).ok());
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(0)), Round(0));
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(4)), std::nullopt);
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(5)), Round(13));
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(14)), Round(14));
  ASSERT_TRUE(policy_table.AddBinding(Rounds(13, 13, 4, 1)).ok());
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(12)), std::nullopt);
  EXPECT_EQ(policy_table.FirstUnknown(kKey, Round(13)), std::nullopt) << "a lease of one round is not worth it";
}

TEST(PolicyTableTest, APlanBindsInChunksOfTheFirstAttempt) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 100000), Row(2, "b", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(0, 9, 4)).ok());
  policy_table.DropBindings();
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(3)).has_value());
  EpochPlan plan;
  plan.epoch = Epoch(2);
  plan.policy = PolicyVersion(5);
  plan.bindings = {{kKey, KeyId(2), Round(3), Round(9), Attempt(1), 25000}};
  EXPECT_EQ(policy_table.AddPlan(plan).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(policy_table.AddSlice(Slice(5)).ok());
  ASSERT_TRUE(policy_table.AddPlan(plan).ok());
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(2)).has_value());
  const std::optional<PolicyTable::Binding> binding = policy_table.FindBinding(kKey, Round(9));
  ASSERT_TRUE(binding.has_value());
  EXPECT_EQ(binding->attempt, Attempt(1));
  EXPECT_EQ(binding->slice->version, PolicyVersion(5));
  EXPECT_EQ(binding->chunks->ChunksOf(kKey), 4u);
  // What is bound later is cut as its policy says, also of keys that come later.
  ASSERT_TRUE(policy_table.AddBinding(Rounds(10, 10, 5)).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(10))->chunks->ChunksOf(kKey), 2u);
  ASSERT_TRUE(policy_table.AddKeys({Row(3, "c", 50000)}).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(3))->chunks->ChunksOf(KeyId(3)), 2u);
  policy_table.Forget(kKey, Round(10));
  policy_table.Forget(KeyId(2), Round(9));
  policy_table.Retire(PolicyVersion(5));
  EXPECT_EQ(policy_table.policies(), 1u);
}

TEST(PolicyTableTest, RefusesASliceWithoutSense) {
  PolicyTable policy_table;
  PolicySlice slice = Slice(4);
  slice.trees[0].share = 0.5;
  EXPECT_EQ(policy_table.AddSlice(slice).code(), absl::StatusCode::kInvalidArgument);
}

TEST(PolicyTableTest, ABindingCoversItsLease) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(5)).ok());
  EXPECT_EQ(policy_table.AddBinding(Rounds(1, 3, 4)), absl::OkStatus());
  EXPECT_EQ(policy_table.AddBinding(Rounds(1, 3, 4)), absl::OkStatus());
  EXPECT_EQ(policy_table.AddBinding(Rounds(4, 4, 5, 2)), absl::OkStatus());
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(0)).has_value());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(3))->slice->version, PolicyVersion(4));
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(4))->slice->version, PolicyVersion(5));
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(4))->attempt, Attempt(2));
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(5)).has_value());
  EXPECT_FALSE(policy_table.FindBinding(KeyId(2), Round(1)).has_value());
  policy_table.Forget(kKey, Round(3));
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(3)).has_value());
  EXPECT_TRUE(policy_table.FindBinding(kKey, Round(4)).has_value());
}

TEST(PolicyTableTest, RefusesABindingThatContradicts) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(5)).ok());
  EXPECT_FALSE(policy_table.AddBinding(Rounds(1, 1, 6)).ok());
  EXPECT_FALSE(policy_table.AddBinding(Rounds(2, 1, 4)).ok());
  EXPECT_FALSE(policy_table.AddBinding({KeyId(2), Round(1), Round(1), PolicyVersion(4), Attempt(0)}).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(3, 5, 4)).ok());
  for (auto [first, last] : {std::pair(3, 5), std::pair(4, 4), std::pair(1, 3), std::pair(5, 9), std::pair(1, 9)}) {
    EXPECT_FALSE(policy_table.AddBinding(Rounds(first, last, 5)).ok());
    EXPECT_FALSE(policy_table.AddBinding(Rounds(first, last, 4, 1)).ok());
  }
  EXPECT_TRUE(policy_table.AddBinding(Rounds(6, 9, 5)).ok());
  EXPECT_TRUE(policy_table.AddBinding(Rounds(4, 4, 4)).ok());
}

TEST(PolicyTableTest, OldPoliciesThatGovernNothingAreForgotten) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(1)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 1, 1)).ok());
  for (uint64_t version = 2; version < 300; ++version) ASSERT_TRUE(policy_table.AddSlice(Slice(version)).ok());
  EXPECT_EQ(policy_table.FindBinding(kKey, Round(1))->slice->version, PolicyVersion(1));
  EXPECT_FALSE(policy_table.AddBinding(Rounds(2, 2, 2)).ok());
  EXPECT_TRUE(policy_table.AddBinding(Rounds(2, 2, 299)).ok());
}

TEST(PolicyTableTest, AsManyPoliciesInUseAreTheLimit) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  for (uint64_t version = 1; version <= PolicyTable::kMostPolicies; ++version) {
    ASSERT_TRUE(policy_table.AddSlice(Slice(version)).ok());
    ASSERT_TRUE(policy_table.AddBinding(Rounds(version, version, version)).ok());
  }
  EXPECT_EQ(policy_table.AddSlice(Slice(1000)).code(), absl::StatusCode::kResourceExhausted);
  policy_table.Forget(kKey, Round(1));
  EXPECT_TRUE(policy_table.AddSlice(Slice(1000)).ok());
}

TEST(PolicyTableTest, AsManyBindingsOfAKeyAreTheLimit) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10), Row(2, "b", 10)}).ok());
  ASSERT_TRUE(policy_table.AddSlice(Slice(4)).ok());
  const uint64_t limit = PolicyTable::kMostBindingsPerKey;
  for (uint64_t round = 1; round <= limit; ++round) ASSERT_TRUE(policy_table.AddBinding(Rounds(round, round, 4)).ok());
  EXPECT_EQ(policy_table.AddBinding(Rounds(limit + 1, limit + 1, 4)).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(policy_table.FindBinding(kKey, Round(limit + 1)).has_value());
  EXPECT_TRUE(policy_table.AddBinding(Rounds(limit, limit, 4)).ok());
  EXPECT_TRUE(policy_table.AddBinding({KeyId(2), Round(1), Round(1), PolicyVersion(4), Attempt(0)}).ok());
  policy_table.Forget(kKey, Round(1));
  EXPECT_TRUE(policy_table.AddBinding(Rounds(limit + 1, limit + 1, 4)).ok());
}

TEST(PolicyTableTest, RetiredPoliciesGoWhenTheirRoundsAreForgotten) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 10)}).ok());
  for (const uint64_t version : {1, 2, 3}) ASSERT_TRUE(policy_table.AddSlice(Slice(version)).ok());
  ASSERT_TRUE(policy_table.AddBinding(Rounds(1, 1, 2)).ok());
  const PolicyTable::Binding kept = *policy_table.FindBinding(kKey, Round(1));
  policy_table.Retire(PolicyVersion(3));
  EXPECT_EQ(policy_table.policies(), 2u);
  EXPECT_TRUE(policy_table.FindBinding(kKey, Round(1)).has_value());
  policy_table.Forget(kKey, Round(1));
  EXPECT_EQ(policy_table.policies(), 1u);
  EXPECT_EQ(kept.slice->version, PolicyVersion(2));
  // Whatever was retired before, and the newest stays.
  policy_table.Retire(PolicyVersion(1));
  policy_table.Retire(PolicyVersion(9));
  EXPECT_EQ(policy_table.newest_slice()->version, PolicyVersion(3));
}

TEST(PolicyTableTest, TheWayIsTheRouteOrTheLink) {
  PolicySlice slice = Slice(4);
  slice.routes.push_back({{NodeId(1), NodeId(3), NodeId(2)}});
  EXPECT_THAT(PolicyTable::PathTo(slice, NodeId(1), NodeId(2)), ElementsAre(NodeId(1), NodeId(3), NodeId(2)));
  EXPECT_THAT(PolicyTable::PathTo(slice, NodeId(1), NodeId(3)), ElementsAre(NodeId(1), NodeId(3)));
}

TEST(PolicyTableTest, VisitsTheKeysOfARunThatHaveRows) {
  PolicyTable policy_table;
  ASSERT_TRUE(policy_table.AddKeys({Row(1, "a", 3), Row(2, "b", 3), Row(3, "c", 3)}).ok());
  std::vector<KeyId> visited;
  policy_table.ForEachKey({KeyId(2), KeyId(9)}, [&visited](KeyId key) { visited.push_back(key); });
  EXPECT_EQ(visited, (std::vector<KeyId>{KeyId(2), KeyId(3)}));
}

}  // namespace
}  // namespace banyan
