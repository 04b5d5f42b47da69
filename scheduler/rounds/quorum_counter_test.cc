#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/rounds/job_quorum.h"

namespace banyan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<QuorumCounter::Weight> kFour = {{NodeId(1), 1}, {NodeId(2), 1}, {NodeId(3), 1}, {NodeId(4), 1}};

TEST(QuorumCounterTest, SaysARoundOnceWhenEnoughHavePushedIt) {
  QuorumCounter counter(0.75);
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(1), 1}}, kFour).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(1), 1}}, kFour).news, IsEmpty()) << "one node counts once";
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(1), Round(1), 1}}, kFour).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(4), {{KeyId(1), Round(1), 1}}, kFour).news,
              ElementsAre(KeyProgressRun{KeyId(1), Round(1), 1}));
  EXPECT_THAT(counter.Report(NodeId(2), {{KeyId(1), Round(1), 1}}, kFour).news, IsEmpty());
}

TEST(QuorumCounterTest, AKeyIsAsFarAsTheSlowestOfItsFastestQuorum) {
  QuorumCounter counter(0.5);
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(7), Round(500)}}, kFour).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(2), {{KeyId(7), Round(499)}}, kFour).news,
              ElementsAre(KeyProgressRun{KeyId(7), Round(499)}));
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(7), Round(12)}}, kFour).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(7), Round(501)}}, kFour).news,
              ElementsAre(KeyProgressRun{KeyId(7), Round(500)}));
}

TEST(QuorumCounterTest, NodesCountWithTheirWorkers) {
  QuorumCounter counter(0.75);
  const std::vector<QuorumCounter::Weight> members = {{NodeId(1), 6}, {NodeId(2), 1}, {NodeId(3), 1}};
  EXPECT_THAT(counter.Report(NodeId(2), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(1)}}, members).news,
              ElementsAre(KeyProgressRun{KeyId(1), Round(1)}));
}

TEST(QuorumCounterTest, WhoIsNoMemberDoesNotCount) {
  QuorumCounter counter(1.0);
  const std::vector<QuorumCounter::Weight> members = {{NodeId(1), 1}, {NodeId(2), 1}};
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(2), {{KeyId(1), Round(1)}}, members).news,
              ElementsAre(KeyProgressRun{KeyId(1), Round(1)}));
}

TEST(QuorumCounterTest, SaysItAgainAfterARestart) {
  QuorumCounter counter(0.5);
  const std::vector<QuorumCounter::Weight> members = {{NodeId(1), 1}, {NodeId(2), 1}};
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(3)}}, members).news,
              ElementsAre(KeyProgressRun{KeyId(1), Round(3)}));
  counter.Restart();
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(3)}}, members).news,
              ElementsAre(KeyProgressRun{KeyId(1), Round(3)}));
}

TEST(QuorumCounterTest, WhoIsBehindHearsOfItAgain) {
  QuorumCounter counter(0.5);
  counter.Report(NodeId(1), {{KeyId(1), Round(3), 1}}, kFour);
  counter.Report(NodeId(2), {{KeyId(1), Round(3), 1}}, kFour);
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(1), Round(2), 1}}, kFour).missed,
              ElementsAre(KeyProgressRun{KeyId(1), Round(3), 1}));
  EXPECT_THAT(counter.Report(NodeId(3), {{KeyId(1), Round(3), 1}}, kFour).missed, IsEmpty());
}

TEST(QuorumCounterTest, WithoutAQuorumNothingIsSaid) {
  QuorumCounter counter(0);
  for (const QuorumCounter::Weight& member : kFour) {
    EXPECT_THAT(counter.Report(member.node, {{KeyId(1), Round(1)}}, kFour).news, IsEmpty());
  }
}

TEST(QuorumCounterTest, WhoLosesItsWorkersIsNotWaitedFor) {
  QuorumCounter counter(0.75);
  std::vector<QuorumCounter::Weight> members = kFour;
  EXPECT_THAT(counter.Report(NodeId(1), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Report(NodeId(2), {{KeyId(1), Round(1)}}, members).news, IsEmpty());
  EXPECT_THAT(counter.Review(members), IsEmpty());
  members[2].workers = members[3].workers = 0;
  EXPECT_THAT(counter.Review(members), ElementsAre(KeyProgressRun{KeyId(1), Round(1)}));
  EXPECT_THAT(counter.Review(members), IsEmpty()) << "once";
}

}  // namespace
}  // namespace banyan
