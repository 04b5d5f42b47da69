#include "scheduler/policy/policy_publisher.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/overlay/overlay_network.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PolicyPublisherTest : public testing::Test {
 protected:
  PolicyPublisherTest()
      : keys_(100),
        view_(MakeNetworkView(mesh_.overlay)),
        policy_(*MakePolicy(view_, *MakePlannerConfig(mesh_.overlay, view_))),
        publisher_(&mesh_.overlay, &mesh_.job, &keys_, &mesh_.members, &mesh_.context) {
    mesh_.Start();
  }

  void Publish(const std::string& reason) {
    publisher_.Put(policy_, reason, view_, std::nullopt);
    publisher_.SendNewest();
  }

  // The versions of the slices that were sent to a node.
  std::vector<uint64_t> VersionsSentTo(int node) {
    std::vector<uint64_t> versions;
    for (const PolicyPublished& published : mesh_.Sent<PolicyPublished>(node)) {
      versions.push_back(published.slice.version.value());
    }
    return versions;
  }

  MeshJob mesh_{2};
  KeyTable keys_;
  NetworkView view_;
  Policy policy_;
  PolicyPublisher publisher_;
};

TEST_F(PolicyPublisherTest, APolicyIsDurableBeforeAMemberHearsOfIt) {
  mesh_.persists = false;
  publisher_.RestoreVersion(PolicyVersion(4));
  Publish("a reason");
  for (const int node : {1, 2}) EXPECT_THAT(VersionsSentTo(node), IsEmpty());
  const auto& record = std::get<PolicyRecord>(mesh_.Records().back());
  EXPECT_EQ(record.policy.version, PolicyVersion(5));
  EXPECT_EQ(record.policy.epoch, mesh_.job.epoch());
  EXPECT_EQ(record.policy.trees, policy_.trees);
  EXPECT_EQ(record.reason, "a reason");
  EXPECT_EQ(record.overlay, std::nullopt);
  mesh_.persists = true;
  for (const int node : {1, 2}) EXPECT_THAT(VersionsSentTo(node), ElementsAre(5));
  EXPECT_TRUE(mesh_.HasLog("because of a reason"));
}

TEST_F(PolicyPublisherTest, OnlyTheNewestIsSentToThoseWhoAreThere) {
  Publish("the start");
  Publish("a change");
  EXPECT_THAT(VersionsSentTo(1), ElementsAre(1, 2));
  EXPECT_EQ(publisher_.last_version(), PolicyVersion(2));
  EXPECT_EQ(publisher_.policies().CurrentReason(), "a change");
}

TEST_F(PolicyPublisherTest, AMemberThatComesBackHearsOfAllInForce) {
  Publish("the start");
  Publish("a change");
  mesh_.Forget();
  publisher_.SendAll(NodeId(2));
  EXPECT_THAT(mesh_.Sent<PoliciesRetired>(2), ElementsAre(PoliciesRetired{mesh_.job.term(), PolicyVersion(1)}));
  EXPECT_THAT(VersionsSentTo(2), ElementsAre(1, 2));
  EXPECT_THAT(VersionsSentTo(1), IsEmpty());
}

TEST_F(PolicyPublisherTest, RetiringIsToldOnce) {
  Publish("the start");
  Publish("a change");
  publisher_.Retire(PolicyVersion(1));
  EXPECT_THAT(mesh_.Sent<PoliciesRetired>(1), IsEmpty());
  for (int i = 0; i < 2; ++i) publisher_.Retire(PolicyVersion(2));
  EXPECT_THAT(mesh_.Sent<PoliciesRetired>(1), SizeIs(1));
  EXPECT_EQ(publisher_.policies().size(), 1u);
}

TEST_F(PolicyPublisherTest, ARecordedPolicyGivesTheSameSlices) {
  Publish("the start");
  const PolicyRecord record = std::get<PolicyRecord>(mesh_.Records().back());
  PolicyPublisher other(&mesh_.overlay, &mesh_.job, &keys_, &mesh_.members, &mesh_.context);
  other.Restore(record, view_);
  ASSERT_THAT(other.policies().SlicesOf(NodeId(1)), SizeIs(1));
  EXPECT_EQ(*other.policies().SlicesOf(NodeId(1))[0], mesh_.Sent<PolicyPublished>(1)[0].slice);
  EXPECT_EQ(other.policies().CurrentReason(), "the start");
}

}  // namespace
}  // namespace banyan
