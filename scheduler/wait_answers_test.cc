#include "scheduler/wait_answers.h"

#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

const KeyId kKey(1);

class WaitAnswersTest : public testing::Test {
 protected:
  WaitAnswersTest() : keys_(100), rounds_(&keys_, {"n1", "n2", "n3"}, absl::ZeroDuration(), 1) {
    EXPECT_TRUE(keys_.Register({"w", 10}).ok());
    rounds_.UsePolicy(PolicyVersion(1), 3);
  }

  void Report(uint32_t node, NodeReport report) {
    report.workers_attached = 2;
    ASSERT_TRUE(reports_.Accept(NodeId(node), report, 3, 1).ok());
  }
  void Pushed(uint32_t node, uint64_t round) {
    NodeReport report;
    report.progress = {{kKey, Round(0), Round(round)}};
    Report(node, report);
  }
  std::string Answer(KeyId key, Round round) {
    return WaitAnswers({mesh_.overlay, mesh_.members.table(), reports_, keys_, rounds_, mesh_.job.IsRunning(), change_,
                        transfer_, barrier_, "", cut_, lately_out_, storage_})
        .Answer({key, round});
  }

  MeshJob mesh_{3};
  KeyTable keys_;
  JobRounds rounds_;
  NodeReports reports_;
  std::string change_;
  std::string transfer_;
  std::string cut_;
  std::vector<std::string> lately_out_;
  std::string storage_;
  std::vector<NodeId> barrier_;
};

TEST_F(WaitAnswersTest, AJobThatHasNotStartedWaitsForNodes) {
  EXPECT_EQ(Answer(KeyId(), WaitQuestion::kJob), "n1, n2, n3 to join the job");
}

TEST_F(WaitAnswersTest, NamesWhoHasNotCalledInit) {
  mesh_.Start();
  Pushed(1, 0);
  Report(2, {});
  Pushed(3, 0);
  EXPECT_EQ(Answer(kKey, Round(0)), "worker 0 of n2 to call Init for it");
}

TEST_F(WaitAnswersTest, SaysWhyANodeHasRefusedAKey) {
  mesh_.Start();
  Pushed(1, 0);
  NodeReport refusing;
  refusing.refusals = {{"v", WorkerId(0), "another one"}, {"w", WorkerId(1), "it does not fit"}};
  Report(2, refusing);
  Pushed(3, 0);
  EXPECT_EQ(Answer(kKey, Round(0)), "worker 1 of n2 (n2 refused key 'w': it does not fit) to call Init for it");
  EXPECT_EQ(Answer(kKey, Round(1)), "worker 0 of n1, worker 0 of n2, worker 0 of n3 to push it");
}

TEST_F(WaitAnswersTest, SaysForWhomACutOfLeasesWaits) {
  mesh_.Start();
  Pushed(1, 0);
  Report(2, {});
  Pushed(3, 0);
  cut_ = "n3 has not answered";
  EXPECT_EQ(Answer(kKey, Round(0)), "worker 0 of n2 to call Init for it; n3 has not answered");
}

TEST_F(WaitAnswersTest, NamesTheWorkersWhoHaveNotPushed) {
  mesh_.Start();
  Pushed(1, 5);
  Pushed(2, 4);
  NodeReport half;
  half.progress = {{kKey, Round(4), Round(5)}};
  half.missing = {{kKey, Round(5), {WorkerId(1), WorkerId(3)}}};
  Report(3, half);
  EXPECT_EQ(Answer(kKey, Round(5)), "worker 0 of n2, workers 1, 3 of n3 to push it");
}

TEST_F(WaitAnswersTest, ANodeWithoutWorkersIsNamedAsSuch) {
  mesh_.Start();
  Pushed(1, 5);
  Pushed(3, 5);
  ASSERT_TRUE(reports_.Accept(NodeId(2), {}, 3, 1).ok());
  EXPECT_EQ(Answer(kKey, Round(5)), "n2 (no worker is attached) to push it");
  mesh_.members.SetWorkerless(NodeId(2), /*has_values=*/false);
  EXPECT_EQ(Answer(kKey, Round(5)), "n1, n2, n3 to hold its result") << "it abstains";
}

TEST_F(WaitAnswersTest, NamesTheLinkThatOnlySmallMessagesPass) {
  mesh_.Start();
  Pushed(1, 5);
  Pushed(3, 5);
  NodeReport blocked;
  blocked.progress = {{kKey, Round(4), Round(5)}};
  blocked.links = {{{}, NodeId(3), {}}, {{.is_blocked = true}, NodeId(1), {}}};
  Report(2, blocked);
  EXPECT_EQ(Answer(kKey, Round(5)),
            "n1, n2, n3 to hold its result; n2 connects to n1, but large messages do not pass (path MTU?)");
}

TEST_F(WaitAnswersTest, AClosedRoundIsOnItsWay) {
  mesh_.Start();
  rounds_.Rebind(Timestamp(), {Epoch(1), PolicyVersion(1), {{kKey, kKey, Round(5)}}, {}}, {});
  EXPECT_EQ(Answer(kKey, Round(4)), "a result on its way");
}

TEST_F(WaitAnswersTest, ALateInitWaitsForParametersOfOthers) {
  mesh_.Start();
  rounds_.Rebind(Timestamp(), {Epoch(1), PolicyVersion(1), {{kKey, kKey, Round(5)}}, {}}, {});
  EXPECT_EQ(Answer(kKey, Round(0)), "a result on its way");
  mesh_.overlay.aggregation.op = AggregationOp::kAdam;
  EXPECT_EQ(Answer(kKey, Round(0)), "its node to get the parameters from other members");
}

TEST_F(WaitAnswersTest, NamesWhoHasNotEnteredABarrier) {
  mesh_.Start();
  barrier_ = {NodeId(2), NodeId(3)};
  NodeReport half;
  half.missing = {{KeyId(), Round(1), {WorkerId(1)}}};
  Report(3, half);
  EXPECT_EQ(Answer(KeyId(), Round(7)), "worker 0 of n2, worker 1 of n3 to enter it");
}

TEST_F(WaitAnswersTest, WhatHoldsUpAllComesFirst) {
  mesh_.Start();
  transfer_ = "n3 fetches it from n1";
  EXPECT_EQ(Answer(kKey, Round(5)), "a transfer of the training state: n3 fetches it from n1");
  change_ = "n2 has not reported";
  EXPECT_EQ(Answer(kKey, Round(5)), "the membership, which changes: n2 has not reported");
}

TEST_F(WaitAnswersTest, SaysWhichLinkWasOutAMomentAgo) {
  mesh_.Start();
  lately_out_ = {"n2 has lost its neighbour n1: Connection refused"};
  const std::string why = "; a moment ago: n2 has lost its neighbour n1: Connection refused";
  for (const uint32_t node : {1, 2, 3}) Report(node, {});
  EXPECT_EQ(Answer(kKey, Round(0)), "worker 0 of n1, worker 0 of n2, worker 0 of n3 to call Init for it" + why);
  for (const uint32_t node : {1, 2, 3}) Pushed(node, 1);
  EXPECT_EQ(Answer(kKey, Round(1)), "n1, n2, n3 to hold its result" + why);
}

TEST_F(WaitAnswersTest, AStorageThatStandsComesFirst) {
  mesh_.Start();
  change_ = "reports of n2 are missing";
  storage_ = "the state has not been written for 4s";
  EXPECT_EQ(Answer(kKey, Round(0)), "the scheduler: the state has not been written for 4s");
}

}  // namespace
}  // namespace banyan
