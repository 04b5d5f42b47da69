#include "scheduler/policy/reconfigurator.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/mesh_job.h"
#include "topology/chunk_assignment.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kOperator = 99;
constexpr char kStar[] = "topology: {planner: star}\n";

class ReconfiguratorTest : public testing::Test {
 protected:
  ReconfiguratorTest()
      : keys_(65536), reconfigurator_(&mesh_.overlay, &mesh_.job, &keys_, &policies_, &mesh_.context) {}

  // Returns whether the reconfiguration is pending once it is read.
  bool Request(const std::string& yaml) { return Request(mesh_, reconfigurator_, yaml); }
  static bool Request(MeshJob& mesh, Reconfigurator& reconfigurator, const std::string& yaml) {
    reconfigurator.Request(MeshConnection(kOperator), Reconfigure{yaml, "new.yaml"});
    const std::optional<StartComputation> started = mesh.TakeComputation();
    if (!started.has_value()) return false;
    EXPECT_TRUE(reconfigurator.IsReading(started->id));
    started->computation->Run();
    return reconfigurator.OnRead(dynamic_cast<OverlayReading&>(*started->computation));
  }
  // Why the last request was refused; "" when it was not.
  std::string Refusal() {
    const std::vector<OperatorReply> replies = mesh_.Sent<OperatorReply>(kOperator);
    return replies.empty() || replies.back().accepted ? "" : replies.back().text;
  }

  MeshJob mesh_{2};
  KeyTable keys_;
  PublishedPolicies policies_;
  Reconfigurator reconfigurator_;
};

TEST_F(ReconfiguratorTest, RefusesBeforeTheStartAndAfterTheEnd) {
  EXPECT_FALSE(Request(MeshYaml(2, kStar)));
  EXPECT_THAT(Refusal(), HasSubstr("the job has not started yet"));
  mesh_.Start();
  mesh_.job.End();
  EXPECT_FALSE(Request(MeshYaml(2, kStar)));
  EXPECT_THAT(Refusal(), HasSubstr("there is no running job"));
}

TEST_F(ReconfiguratorTest, TakesOneAtATime) {
  mesh_.Start();
  ASSERT_TRUE(Request(MeshYaml(2, kStar)));
  EXPECT_TRUE(reconfigurator_.is_pending());
  EXPECT_FALSE(reconfigurator_.is_planning());
  EXPECT_FALSE(Request(MeshYaml(2)));
  EXPECT_THAT(Refusal(), HasSubstr("another reconfiguration is being planned"));
  EXPECT_EQ(reconfigurator_.BeginPlanning().planner_config.planner, "star");
  EXPECT_TRUE(reconfigurator_.is_planning());
}

TEST_F(ReconfiguratorTest, ReadsOnTheComputePool) {
  mesh_.Start();
  reconfigurator_.Request(MeshConnection(kOperator), Reconfigure{MeshYaml(2, kStar), "new.yaml"});
  EXPECT_FALSE(reconfigurator_.is_pending()) << "the file may be large";
  reconfigurator_.Request(MeshConnection(kOperator), Reconfigure{MeshYaml(2), "new.yaml"});
  EXPECT_THAT(Refusal(), HasSubstr("another reconfiguration is being planned"));
  std::optional<StartComputation> started = mesh_.TakeComputation();
  ASSERT_TRUE(started.has_value());
  started->computation->Run();
  mesh_.job.End();
  EXPECT_FALSE(reconfigurator_.OnRead(dynamic_cast<OverlayReading&>(*started->computation)));
  EXPECT_THAT(Refusal(), HasSubstr("there is no running job")) << "it has ended meanwhile";
}

TEST_F(ReconfiguratorTest, SaysWhyItPlansAndWhatHasChanged) {
  mesh_.Start();
  ASSERT_TRUE(Request(MeshYaml(2, kStar)));
  EXPECT_EQ(reconfigurator_.BeginPlanning().Reason(),
            "a reconfiguration with new.yaml: topology.planner: packed -> star");
  const Reconfiguration done = reconfigurator_.Take();
  EXPECT_FALSE(reconfigurator_.is_pending());
  EXPECT_EQ(done.overlay.topology.planner, "star");
  EXPECT_EQ(done.text, (OverlayText{MeshYaml(2, kStar), "new.yaml"}));
  EXPECT_EQ(done.changes, "topology.planner: packed -> star");
  reconfigurator_.Accept("policy 7");
  EXPECT_THAT(mesh_.Sent<OperatorReply>(kOperator), ElementsAre(OperatorReply{true, "policy 7"}));
  EXPECT_TRUE(Request(MeshYaml(2))) << "the next one has its turn";
}

TEST_F(ReconfiguratorTest, RefusesWhatDoesNotFitTheJob) {
  mesh_.Start();
  ASSERT_TRUE(keys_.Register({"w", 2 * int64_t{kMaxChunksPerKey}}).ok());
  const std::pair<std::string, const char*> refused[] = {
      {MeshYaml(2, "topology: {planer: star}\n"), "new.yaml:"},
      {"nodes: [{name: n1}, {name: n2}]", "address"},
      {MeshYaml(2, "membership: {least: 2}\n"), "membership.least cannot change"},
      {MeshYaml(2, "chunks: {max_elements: 1, min_elements: 1}\n"), "raise chunks.max_elements"},
      {MeshYaml(2, "topology: {planner: star, root: n9}\n"), "n9"},
  };
  for (const auto& [yaml, why] : refused) {
    EXPECT_FALSE(Request(yaml));
    EXPECT_THAT(Refusal(), HasSubstr(why));
    EXPECT_FALSE(reconfigurator_.is_pending());
  }
}

TEST_F(ReconfiguratorTest, WaitsWhileTooManyPoliciesAreInForce) {
  mesh_.Start();
  for (uint64_t version = 1; version <= kMostLivePolicies; ++version) {
    Policy policy;
    policy.version = PolicyVersion(version);
    policies_.Add(policy, "", NetworkView(), {}, {});
  }
  EXPECT_FALSE(Request(MeshYaml(2, kStar)));
  EXPECT_THAT(Refusal(), HasSubstr("48 policies govern open rounds"));
}

TEST_F(ReconfiguratorTest, ARefusalAnswersThePendingOneOnce) {
  mesh_.Start();
  reconfigurator_.Refuse("nobody asked");
  EXPECT_THAT(mesh_.Sent<OperatorReply>(kOperator), IsEmpty());
  ASSERT_TRUE(Request(MeshYaml(2, kStar)));
  reconfigurator_.BeginPlanning();
  for (int i = 0; i < 2; ++i) reconfigurator_.Refuse("the job has failed: a disk");
  EXPECT_THAT(mesh_.Sent<OperatorReply>(kOperator), SizeIs(1));
  EXPECT_EQ(Refusal(), "the job has failed: a disk");
  EXPECT_FALSE(reconfigurator_.is_planning());
}

TEST_F(ReconfiguratorTest, TellsOfManyChangesInFewWords) {
  mesh_.Start();
  MeshJob large(8);
  large.Start();
  Reconfigurator reconfigurator(&large.overlay, &large.job, &keys_, &policies_, &large.context);
  std::string links = "links:\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = a + 1; b <= 8; ++b) absl::StrAppend(&links, "  - {between: [n", a, ", n", b, "], mbps: 7}\n");
  }
  ASSERT_TRUE(Request(large, reconfigurator, MeshYaml(8, links)));
  EXPECT_THAT(reconfigurator.BeginPlanning().changes, HasSubstr("; and 36 more"));
}

}  // namespace
}  // namespace banyan
