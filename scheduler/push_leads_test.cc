#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/push_order.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

const KeyId kA(1);

class PushLeadsTest : public testing::Test {
 protected:
  PushLeadsTest() : keys_(100) {
    mesh_.Start();
    EXPECT_TRUE(keys_.Register({"a", 10}).ok());
    EXPECT_TRUE(keys_.Register({"b", 10}).ok());
  }
  void Report(uint32_t node, uint64_t lag, uint64_t since, uint64_t pushed, uint32_t workers = 1) {
    NodeReport report;
    report.workers_attached = workers;
    report.lags = {{kA, WorkerId(2), Round(since), Round(pushed), lag}};
    EXPECT_TRUE(reports_.Accept(NodeId(node), report, 3, 2).ok());
    leads_.OnReport(NodeId(node));
  }

  MeshJob mesh_{3};
  KeyTable keys_;
  NodeReports reports_;
  PushLeads leads_{&mesh_.members.table(), &reports_, &keys_};
};

TEST_F(PushLeadsTest, WhoIsAheadOfMostIsNamedWithKeyAndRounds) {
  Report(1, 1, 2, 40);
  Report(2, 2, 7, 41);
  EXPECT_THAT(leads_.text(),
              HasSubstr("worker 2 of n2 runs ahead with key 'a': it pushes round 7 and later ones in the "
                        "step in which n1 pushes round 6; it has pushed the key twice in a step"));
  const std::string said = leads_.text();
  Report(3, 1, 2, 40);
  Report(2, 2, 7, 50);
  EXPECT_EQ(leads_.text(), said);
  // The others have done so, too.
  Report(1, 2, 45, 70);
  Report(3, 2, 45, 70);
  Report(2, 2, 7, 70);
  EXPECT_EQ(leads_.text(), "");
}

// The last to tell may be one that is behind: a job that stands still tells nothing more.
TEST_F(PushLeadsTest, ItDoesNotMatterWhoTellsFirst) {
  Report(2, 2, 7, 41);
  EXPECT_EQ(leads_.text(), "");
  Report(1, 1, 2, 40);
  EXPECT_THAT(leads_.text(), HasSubstr("worker 2 of n2 runs ahead with key 'a'"));
}

TEST_F(PushLeadsTest, OneOfThreeThatIsBehindIsNoReason) {
  Report(1, 2, 2, 40);
  Report(2, 2, 2, 40);
  Report(3, 1, 2, 40);
  Report(1, 2, 2, 41);
  EXPECT_EQ(leads_.text(), "");
}

TEST_F(PushLeadsTest, OnlyTheSameRoundsAreCompared) {
  Report(1, 1, 2, 20);
  Report(2, 2, 15, 40);
  EXPECT_EQ(leads_.text(), "") << "n1 may have changed as well";
  Report(1, 2, 21, 40);
  Report(2, 2, 15, 41);
  EXPECT_EQ(leads_.text(), "");
}

TEST_F(PushLeadsTest, WhoHasGoneOrHasNoWorkerDoesNotCount) {
  Report(1, 1, 2, 40, /*workers=*/0);
  Report(2, 2, 2, 40);
  EXPECT_EQ(leads_.text(), "");
  Report(1, 1, 2, 41);
  Report(2, 2, 2, 41);
  EXPECT_NE(leads_.text(), "");
  leads_.Forget(NodeId(2));
  EXPECT_EQ(leads_.text(), "");
}

}  // namespace
}  // namespace banyan
