#include "scheduler/epochs/epoch_plan_maker.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Binding = EpochPlan::Binding;
using Frontier = EpochPlan::Frontier;

const NodeId kA(1);
const NodeId kB(2);

// Four keys of which two members have bound rounds 0 to 2 under policy 4, with chunks of 100 elements.
class EpochPlanMakerTest : public testing::Test {
 protected:
  EpochPlanMakerTest() : keys_(100), rounds_(&keys_, {"a", "b"}, absl::ZeroDuration(), 1) {
    AddPolicy(4, 100);
    rounds_.UsePolicy(PolicyVersion(4), 2);
    for (uint32_t key = 1; key <= 4; ++key) {
      EXPECT_TRUE(keys_.Register({absl::StrCat("key", key), 10}).ok());
      for (uint64_t round = 0; round < 3; ++round) rounds_.Request(Timestamp(), kA, {{{KeyId(key), Round(round)}}});
    }
  }

  void AddPolicy(uint64_t version, int64_t chunk_elements) {
    Policy policy;
    policy.version = PolicyVersion(version);
    policy.chunk_max_elements = chunk_elements;
    policies_.Add(policy, "", NetworkView(), {}, {});
  }
  void Close(uint32_t key, uint64_t round) {
    for (const NodeId node : {kA, kB}) rounds_.Report(Timestamp(), node, {{{KeyId(key), Round(round), 7}}});
  }
  EpochPlanRecord Make(std::vector<EpochReport::Progress> progress) {
    EpochReports reports;
    reports.Begin(Epoch(2), {kA}, {kA}, 4);
    EXPECT_TRUE(reports.Accept(kA, {Epoch(2), std::move(progress)}).ok());
    return MakeEpochPlan(Epoch(2), PolicyVersion(5), reports, keys_, rounds_, policies_);
  }

  KeyTable keys_;
  JobRounds rounds_;
  PublishedPolicies policies_;
};

TEST_F(EpochPlanMakerTest, JoinsKeysThatAreAlike) {
  const EpochPlanRecord plan = Make({{KeyId(1), KeyId(3), Round(1)}, {KeyId(4), KeyId(4), Round(3)}});
  EXPECT_THAT(plan.frontiers,
              ElementsAre(Frontier{KeyId(1), KeyId(3), Round(1)}, Frontier{KeyId(4), KeyId(4), Round(3)}));
  EXPECT_THAT(plan.bindings, ElementsAre(Binding{KeyId(1), KeyId(3), Round(1), Round(1), Attempt(1), 100},
                                         Binding{KeyId(1), KeyId(3), Round(2), Round(2), Attempt(1), 100}));
}

TEST_F(EpochPlanMakerTest, NeverOpensWhatIsClosedNorClosesWhatNeverBegan) {
  Close(1, 0);
  Close(1, 1);
  const EpochPlanRecord plan = Make({{KeyId(2), KeyId(4), Round(1000)}});
  EXPECT_THAT(plan.frontiers,
              ElementsAre(Frontier{KeyId(1), KeyId(1), Round(2)}, Frontier{KeyId(2), KeyId(4), Round(3)}));
  EXPECT_THAT(plan.bindings, ElementsAre(Binding{KeyId(1), KeyId(1), Round(2), Round(2), Attempt(1), 100}));
}

TEST_F(EpochPlanMakerTest, RoundsThatAreClosedBeyondAreNotTriedAgain) {
  Close(1, 1);
  const EpochPlanRecord plan = Make({{KeyId(1), KeyId(1), Round(0)}, {KeyId(2), KeyId(4), Round(3)}});
  EXPECT_THAT(plan.bindings, ElementsAre(Binding{KeyId(1), KeyId(1), Round(0), Round(0), Attempt(1), 100},
                                         Binding{KeyId(1), KeyId(1), Round(2), Round(2), Attempt(1), 100}));
}

TEST_F(EpochPlanMakerTest, WithoutASurvivorAllBoundRoundsAreOver) {
  EpochReports reports;
  reports.Begin(Epoch(2), {}, {}, 4);
  const EpochPlanRecord plan = MakeEpochPlan(Epoch(2), PolicyVersion(5), reports, keys_, rounds_, policies_);
  EXPECT_THAT(plan.frontiers, ElementsAre(Frontier{KeyId(1), KeyId(4), Round(3)}));
  EXPECT_THAT(plan.bindings, IsEmpty());
}

TEST_F(EpochPlanMakerTest, ARoundKeepsTheChunksOfItsFirstAttempt) {
  AddPolicy(5, 200);
  rounds_.Rebind(Timestamp(), Make({{KeyId(1), KeyId(4), Round(2)}}), {kA});
  const EpochPlanRecord again = Make({{KeyId(1), KeyId(4), Round(2)}});
  EXPECT_THAT(again.bindings, ElementsAre(Binding{KeyId(1), KeyId(4), Round(2), Round(2), Attempt(2), 100}));
}

TEST_F(EpochPlanMakerTest, RepeatsWhatTheOldestPolicyGoverns) {
  Close(1, 0);
  AddPolicy(5, 200);
  rounds_.UsePolicy(PolicyVersion(5), 2);
  rounds_.Request(Timestamp(), kA, {{{KeyId(1), Round(3)}}});
  const EpochPlanRecord plan = RepeatEpochPlan(Epoch(2), keys_, rounds_, policies_);
  EXPECT_EQ(plan.policy, PolicyVersion(4));
  EXPECT_THAT(plan.frontiers, ElementsAre(Frontier{KeyId(1), KeyId(1), Round(1)})) << "the others have none closed";
  ASSERT_EQ(plan.bindings.size(), 5u);
  EXPECT_EQ(plan.bindings[0], (Binding{KeyId(1), KeyId(1), Round(1), Round(1), Attempt(0), 100}));
  EXPECT_EQ(plan.bindings[2], (Binding{KeyId(2), KeyId(4), Round(0), Round(0), Attempt(0), 100}));
}

}  // namespace
}  // namespace banyan
