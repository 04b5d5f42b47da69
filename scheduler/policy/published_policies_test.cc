#include "scheduler/policy/published_policies.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Policy LonePolicy(uint64_t version) {
  Policy policy;
  policy.version = PolicyVersion(version);
  policy.members = {NodeId(1)};
  policy.trees = {Tree{NodeId(1), 1, {}, {}}};
  return policy;
}

TEST(PublishedPoliciesTest, KeepsVersionsInOrder) {
  PublishedPolicies policies;
  EXPECT_EQ(policies.Current(), nullptr);
  EXPECT_THAT(policies.SlicesOf(NodeId(1)), IsEmpty());
  const std::map<NodeId, NodeAddress> addresses = {{NodeId(1), {"tcp://a:1", Incarnation(1)}}};
  policies.Add(LonePolicy(2), "the start", NetworkView(), {}, addresses);
  policies.Add(LonePolicy(5), "a change", NetworkView(), {}, addresses);
  EXPECT_EQ(policies.Current()->version, PolicyVersion(5));
  EXPECT_TRUE(policies.Contains(PolicyVersion(2)));
  EXPECT_FALSE(policies.Contains(PolicyVersion(3)));
  ASSERT_THAT(policies.SlicesOf(NodeId(1)), SizeIs(2));
  EXPECT_EQ(policies.SlicesOf(NodeId(1))[0]->version, PolicyVersion(2));
  EXPECT_THAT(policies.SlicesOf(NodeId(2)), IsEmpty());
  EXPECT_EQ(policies.CurrentReason(), "a change");
  EXPECT_EQ(policies.Oldest(), PolicyVersion(2));
  EXPECT_EQ(policies.size(), 2u);
}

TEST(PublishedPoliciesTest, RetiresWhatIsOlder) {
  PublishedPolicies policies;
  EXPECT_EQ(policies.Oldest(), PolicyVersion(0));
  const std::map<NodeId, NodeAddress> addresses = {{NodeId(1), {"tcp://a:1", Incarnation(1)}}};
  for (const uint64_t version : {1, 2, 3}) {
    Policy policy = LonePolicy(version);
    policy.chunk_max_elements = static_cast<int64_t>(10 * version);
    policies.Add(std::move(policy), "", NetworkView(), {}, addresses);
  }
  EXPECT_EQ(policies.SmallestChunk(), 10);
  EXPECT_FALSE(policies.Retire(PolicyVersion(1)));
  EXPECT_TRUE(policies.Retire(PolicyVersion(3)));
  EXPECT_THAT(policies.SlicesOf(NodeId(1)), SizeIs(1));
  EXPECT_FALSE(policies.Contains(PolicyVersion(2)));
  EXPECT_EQ(policies.SmallestChunk(), 30);
}

}  // namespace
}  // namespace banyan
