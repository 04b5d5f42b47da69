#include "scheduler/job_restorer.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/overlay/overlay_network.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kChunkElements = 65536;

BoundRounds BindingOf(uint32_t key, uint64_t round, uint64_t policy) {
  return {KeyId(key), Round(round), Round(round), PolicyVersion(policy), Attempt(0)};
}

// A running job of two nodes with one key and two policies, of which the first governs the open round 1.
class JobRestorerTest : public testing::Test {
 protected:
  JobRestorerTest()
      : keys_(kChunkElements, &mesh_.job, &mesh_.members, &mesh_.context),
        rounds_(&keys_.table(), {"n1", "n2"}, absl::ZeroDuration(), 1),
        publisher_(&mesh_.overlay, &mesh_.job, &keys_.table(), &mesh_.members, &mesh_.context),
        believed_(MakeNetworkView(mesh_.overlay)) {
    state_.last_term = Term(3);
    state_.last_epoch = state_.planned_epoch = Epoch(2);
    state_.last_policy = PolicyVersion(5);
    for (const uint32_t node : {1, 2}) {
      const Join join = MeshJoin(static_cast<int>(node), 9);
      state_.members.push_back({NodeId(node), join.incarnation, Epoch(2), 0});
      state_.nodes[NodeId(node)] = NodeRecord{NodeId(node), join.name, join.address, join.incarnation};
    }
    state_.keys = {{"w", 10}};
    state_.policies = {RecordOf(4), RecordOf(5)};
    for (const auto& binding : {BindingOf(1, 0, 4), BindingOf(1, 1, 4), BindingOf(1, 2, 5)}) {
      EXPECT_TRUE(state_.rounds.Bind(binding));
    }
    EXPECT_TRUE(state_.rounds.Close(KeyId(1), Round(0)));
  }

  PolicyRecord RecordOf(uint64_t version) const {
    PolicyRecord record;
    record.policy = *MakePolicy(believed_, *MakePlannerConfig(mesh_.overlay, believed_));
    record.policy.version = PolicyVersion(version);
    record.policy.epoch = Epoch(2);
    record.reason = absl::StrCat("reason ", version);
    return record;
  }

  absl::Status RestoreKeys() {
    rounds_.Restore(state_.rounds);
    return JobRestorer(state_).RestoreKeys(keys_, rounds_);
  }
  absl::Status RestorePolicies() {
    const JobRestorer restorer(state_);
    restorer.RestoreNumbers(mesh_.job, publisher_);
    restorer.RestoreNodes(mesh_.members);
    EXPECT_TRUE(RestoreKeys().ok());
    return restorer.RestorePolicies(believed_, rounds_, publisher_);
  }

  MeshJob mesh_{2};
  KeyRegistrar keys_;
  JobRounds rounds_;
  PolicyPublisher publisher_;
  NetworkView believed_;
  RecoveredState state_;
};

TEST_F(JobRestorerTest, UsesNoTermNoVersionAndNoIncarnationAgain) {
  state_.spent_nodes = {NodeId(2)};
  JobRestorer(state_).RestoreNumbers(mesh_.job, publisher_);
  JobRestorer(state_).RestoreNodes(mesh_.members);
  EXPECT_EQ(mesh_.job.term(), Term(4));
  EXPECT_EQ(mesh_.job.epoch(), Epoch(2));
  EXPECT_EQ(publisher_.last_version(), PolicyVersion(5));
  EXPECT_EQ(mesh_.members.table().Find(NodeId(1)).incarnation, Incarnation(9));
  EXPECT_EQ(mesh_.members.Join(MeshConnection(2), MeshJoin(2, 9)).kind, JoinVerdict::Kind::kRefused);
  EXPECT_EQ(mesh_.members.Join(MeshConnection(1), MeshJoin(1, 9)).kind, JoinVerdict::Kind::kAccepted);
}

TEST_F(JobRestorerTest, WithoutAPolicyTheJobWasNotRunning) {
  EXPECT_TRUE(JobRestorer(state_).is_running());
  const RecoveredState empty;
  EXPECT_FALSE(JobRestorer(empty).is_running());
}

TEST_F(JobRestorerTest, WithoutAReconfigurationTheFileCounts) {
  OverlayConfig overlay = MeshOverlay(2, "topology: {planner: mst}\n");
  EXPECT_EQ(*JobRestorer(state_).RestoreOverlay(overlay), std::nullopt);
  EXPECT_EQ(overlay.topology.planner, "mst");
}

TEST_F(JobRestorerTest, TheLastReconfigurationCountsWhateverTheFileSays) {
  state_.overlay = OverlayText{MeshYaml(2, "topology: {planner: star}\n"), "second.yaml"};
  OverlayConfig overlay = MeshOverlay(2, "topology: {planner: mst}\n");
  EXPECT_EQ(*JobRestorer(state_).RestoreOverlay(overlay), "second.yaml");
  EXPECT_EQ(overlay.topology.planner, "star");
}

TEST_F(JobRestorerTest, AReconfigurationOfOtherNodesDoesNotFit) {
  state_.overlay = OverlayText{MeshYaml(2), "new.yaml"};
  OverlayConfig larger = MeshOverlay(3);
  const absl::Status other = JobRestorer(state_).RestoreOverlay(larger).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()), HasSubstr("new.yaml, which has other nodes than the overlay now"));
  state_.overlay = OverlayText{"nodes: 7", "new.yaml"};
  EXPECT_EQ(JobRestorer(state_).RestoreOverlay(mesh_.overlay).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(JobRestorerTest, AReconfigurationMayHaveAddedNodes) {
  state_.overlay = OverlayText{MeshYaml(3), "new.yaml"};
  OverlayConfig overlay = MeshOverlay(2);
  EXPECT_EQ(*JobRestorer(state_).RestoreOverlay(overlay), "new.yaml");
  EXPECT_EQ(overlay.nodes.size(), 3u);
  state_.nodes[NodeId(3)] = NodeRecord{NodeId(3), "other", "", Incarnation(1)};
  EXPECT_EQ(JobRestorer(state_).RestoreOverlay(overlay).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(JobRestorerTest, BringsOpenRoundsBack) {
  ASSERT_TRUE(RestoreKeys().ok());
  EXPECT_EQ(keys_.table().ElementsOf(KeyId(1)), 10);
  EXPECT_EQ(rounds_.FirstOpen(KeyId(1)), Round(1));
  EXPECT_EQ(rounds_.bindings(), 2u);
  EXPECT_EQ(rounds_.OldestPolicy(), PolicyVersion(4));
  EXPECT_THAT(mesh_.Records(), IsEmpty()) << "they are there already";
}

TEST_F(JobRestorerTest, RefusesAnImpossibleKey) {
  state_.keys.push_back({"w", 20});
  EXPECT_EQ(RestoreKeys().message(), "the records have an impossible key 'w'");
}

TEST_F(JobRestorerTest, ExpectsTheMembersBack) {
  state_.members.pop_back();
  state_.removed_nodes = {NodeId(2)};
  ASSERT_TRUE(RestorePolicies().ok());
  JobRestorer(state_).RestoreMembers(mesh_.members);
  EXPECT_EQ(mesh_.members.table().Find(NodeId(1)).state, MemberState::kExpected);
  EXPECT_TRUE(mesh_.members.table().Find(NodeId(2)).is_removed);
  EXPECT_FALSE(mesh_.members.table().Find(NodeId(2)).is_member);
}

TEST_F(JobRestorerTest, BringsBackThePoliciesThatOpenRoundsNeed) {
  ASSERT_TRUE(RestorePolicies().ok());
  EXPECT_EQ(publisher_.policies().Oldest(), PolicyVersion(4));
  EXPECT_EQ(publisher_.policies().Current()->version, PolicyVersion(5));
  EXPECT_EQ(publisher_.policies().CurrentReason(), "reason 5");
}

TEST_F(JobRestorerTest, LeavesOutThePoliciesThatNoRoundNeeds) {
  EXPECT_TRUE(state_.rounds.Close(KeyId(1), Round(1)));
  ASSERT_TRUE(RestorePolicies().ok());
  EXPECT_EQ(publisher_.policies().Oldest(), PolicyVersion(5));
}

TEST_F(JobRestorerTest, RefusesAPolicyThatDoesNotFitTheLinks) {
  state_.policies[1].policy.trees[0].root = NodeId(7);
  const absl::Status misfit = RestorePolicies();
  EXPECT_EQ(misfit.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(misfit.message()), HasSubstr("policy 5 of the records does not fit the overlay"));
}

TEST_F(JobRestorerTest, JudgesAPolicyByTheLinksThatItWasMadeWith) {
  state_.policies[1].left_out = {{NodeId(1), NodeId(2)}};
  const absl::Status misfit = RestorePolicies();
  EXPECT_EQ(misfit.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(misfit.message()), HasSubstr("policy 5 of the records does not fit the overlay"));
}

TEST_F(JobRestorerTest, RefusesAMemberThatNeverJoined) {
  state_.nodes.erase(NodeId(2));
  EXPECT_EQ(RestorePolicies().message(), "the records have a member that never joined");
}

}  // namespace
}  // namespace banyan
