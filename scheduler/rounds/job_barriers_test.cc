#include "scheduler/rounds/job_barriers.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const NodeId kA(1);
const NodeId kB(2);

class JobBarriersTest : public testing::Test {
 protected:
  std::vector<BarrierReleased> ReleasedTo(int node) { return mesh_.Sent<BarrierReleased>(node); }

  MeshJob mesh_{2};
  std::set<NodeId> fetching_;
  JobBarriers barriers_{&mesh_.job, &mesh_.members, &mesh_.context,
                        [this](NodeId node) { return fetching_.contains(node); }};
};

TEST_F(JobBarriersTest, IsReleasedToAllWhenAllHaveEnteredAndThatIsDurable) {
  mesh_.Start();
  barriers_.Enter(kA, {0});
  EXPECT_THAT(barriers_.Missing(), ElementsAre(kB));
  EXPECT_THAT(ReleasedTo(1), IsEmpty());
  mesh_.persists = false;
  barriers_.Enter(kB, {0});
  EXPECT_THAT(barriers_.Missing(), IsEmpty());
  EXPECT_EQ(std::get<BarrierRecord>(mesh_.Records().back()), (BarrierRecord{0, {}}));
  EXPECT_THAT(ReleasedTo(1), IsEmpty());
  mesh_.persists = true;
  for (const int node : {1, 2}) EXPECT_THAT(ReleasedTo(node), ElementsAre(BarrierReleased{mesh_.job.term(), 0}));
}

TEST_F(JobBarriersTest, BeforeTheStartNobodyKnowsWhomItWaitsFor) {
  mesh_.JoinAll();
  for (const NodeId node : {kA, kB}) barriers_.Enter(node, {0});
  EXPECT_THAT(ReleasedTo(1), IsEmpty());
  mesh_.Start();
  barriers_.Review();
  EXPECT_THAT(ReleasedTo(1), SizeIs(1));
}

TEST_F(JobBarriersTest, AnEntryThatIsSaidAgainIsAnsweredAgain) {
  mesh_.Start();
  for (const NodeId node : {kA, kB}) barriers_.Enter(node, {0});
  barriers_.Enter(kA, {0});
  EXPECT_THAT(ReleasedTo(1), SizeIs(2));
  EXPECT_THAT(ReleasedTo(2), SizeIs(1));
}

TEST_F(JobBarriersTest, ABarrierThatIsNotTheNextOneIsRejected) {
  mesh_.Start();
  barriers_.Enter(kA, {1});
  EXPECT_TRUE(mesh_.HasLog("barrier 1, which is not its next one"));
  barriers_.Enter(kB, {UINT64_MAX});
  EXPECT_TRUE(mesh_.HasLog("from n2: "));
  EXPECT_THAT(barriers_.Missing(), IsEmpty()) << "nobody has entered";
}

TEST_F(JobBarriersTest, WhoHasLeftIsNotAwaited) {
  mesh_.Start();
  barriers_.Enter(kA, {0});
  mesh_.members.Leave(kB, false);
  EXPECT_THAT(barriers_.Missing(), IsEmpty());
  barriers_.Review();
  EXPECT_THAT(ReleasedTo(1), SizeIs(1));
}

TEST_F(JobBarriersTest, WhoWasForgottenIsAwaitedAgain) {
  mesh_.Start();
  barriers_.Enter(kA, {0});
  barriers_.Drop(kA);
  barriers_.Enter(kB, {0});
  EXPECT_THAT(barriers_.Missing(), ElementsAre(kA));
}

// The others would never come to the boundary at which it gets the state.
TEST_F(JobBarriersTest, WhoFetchesTheStateIsLeftOut) {
  mesh_.Start();
  barriers_.Enter(kA, {0});
  fetching_.insert(kB);
  EXPECT_THAT(barriers_.Missing(), ElementsAre(kB)) << "until it is reviewed";
  barriers_.Review();
  EXPECT_THAT(ReleasedTo(1), SizeIs(1));
  EXPECT_THAT(ReleasedTo(2), IsEmpty());
  EXPECT_EQ(std::get<BarrierRecord>(mesh_.Records().back()), (BarrierRecord{0, {kB}}));
  fetching_.clear();
  barriers_.Enter(kB, {0});
  EXPECT_THAT(barriers_.Missing(), ElementsAre(kA)) << "its first one is the job's second";
  barriers_.Enter(kA, {1});
  EXPECT_THAT(ReleasedTo(2), ElementsAre(BarrierReleased{mesh_.job.term(), 0}));
  EXPECT_THAT(ReleasedTo(1), SizeIs(2));
}

TEST_F(JobBarriersTest, NobodyIsLeftOutOfABarrierThatOthersDoNotWaitIn) {
  mesh_.Start();
  fetching_ = {kA, kB};
  barriers_.Review();
  EXPECT_THAT(ReleasedTo(1), IsEmpty());
  barriers_.Enter(kB, {0});
  EXPECT_EQ(std::get<BarrierRecord>(mesh_.Records().back()), (BarrierRecord{0, {kA}})) << "who entered takes part";
}

TEST_F(JobBarriersTest, AfterARestartItGoesOnWithTheNextOne) {
  mesh_.Start();
  barriers_.Restore(3);
  EXPECT_EQ(barriers_.BeforeJoiner(), 3u);
  barriers_.Enter(kA, {2});
  EXPECT_THAT(ReleasedTo(1), ElementsAre(BarrierReleased{mesh_.job.term(), 2})) << "it was released before";
  barriers_.Enter(kA, {3});
  EXPECT_THAT(barriers_.Missing(), ElementsAre(kB));
}

}  // namespace
}  // namespace banyan
