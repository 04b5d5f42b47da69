// Jobs with two schedulers, in which something happens to the one that leads.
#include "sim/leadership/standby_schedulers.h"

#include <set>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

constexpr absl::Duration kLease = absl::Seconds(2);
// The lease, a try to lead, a dial, and all nodes' joins.
constexpr absl::Duration kBound = absl::Milliseconds(3500);

// Who has answered requests for policies, and since when the one that did so last.
class Answers : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    if (!std::holds_alternative<PolicyAnswer>(sent.message)) return;
    if (sent.from != last) since = sent.now;
    last = sent.from;
    who.insert(sent.from);
  }

  std::set<NodeId> who;
  NodeId last;
  Timestamp since;
};

class StandbySchedulersTest : public testing::Test {
 protected:
  static ClusterOptions Options(const StandbyOptions& standby) {
    ClusterOptions options = LinkedCluster(3, 2e7, 2e7);
    options.plan.rounds = 200;
    options.standby = standby;
    return options;
  }
  explicit StandbySchedulersTest(const StandbyOptions& standby = {.lease = kLease}) : cluster_(Options(standby)) {
    cluster_->simulator()->network()->AddObserver(&answers_);
    cluster_->simulator()->RunUntil([this] { return cluster_->rounds_done() >= 3; }, Timestamp() + absl::Seconds(60));
    first_ = cluster_->processes()->leader();
  }

  void RunFor(absl::Duration time) {
    cluster_->simulator()->RunUntil([] { return false; }, cluster_->simulator()->now() + time);
  }
  StandbySchedulers& standby() { return *cluster_->processes()->standby(); }
  SimulatedProcess* leader() { return cluster_->simulator()->process(first_); }
  // The other scheduler answers within the bound after now.
  void ExpectTheOtherAnswers() {
    const Timestamp now = cluster_->simulator()->now();
    cluster_->simulator()->RunUntil([this] { return answers_.last != first_; }, now + kBound);
    EXPECT_NE(answers_.last, first_);
  }
  void ExpectTraining() {
    EXPECT_TRUE(cluster_->RunUntilStayersTrained(cluster_->simulator()->now(), {}, absl::Seconds(120)));
    EXPECT_EQ(cluster_->violations()->Report(), "");
  }

  ChangingCluster cluster_;
  Answers answers_;
  NodeId first_;
};

TEST_F(StandbySchedulersTest, OneOfThemLeadsAndKeepsTheLead) {
  RunFor(10 * kLease);
  EXPECT_EQ(answers_.who, std::set<NodeId>{first_});
  ExpectTraining();
}

TEST_F(StandbySchedulersTest, AKilledLeaderIsFollowed) {
  standby().Kill(first_, /*silently=*/false);
  ExpectTheOtherAnswers();
  standby().Start();
  ExpectTraining();
}

TEST_F(StandbySchedulersTest, ALeaderThatStoodStillSaysNothingMore) {
  leader()->PauseUntil(cluster_->simulator()->now() + 3 * kLease);
  ExpectTheOtherAnswers();
  RunFor(3 * kLease);
  EXPECT_NE(answers_.last, first_);
  ExpectTraining();
}

TEST_F(StandbySchedulersTest, ALeaderThatIsCutOffFromTheStorageIsFollowed) {
  standby().storage()->SetCutOff(first_, true);
  ExpectTheOtherAnswers();
  EXPECT_FALSE(leader()->running());
  standby().storage()->SetCutOff(first_, false);
  ExpectTraining();
}

// Long before its lease would have ended.
TEST_F(StandbySchedulersTest, ALeaderThatIsAskedToStopGivesTheLeadBack) {
  leader()->RequestStop();
  RunFor(absl::Milliseconds(50));
  EXPECT_FALSE(leader()->running());
  RunFor(absl::Milliseconds(300));
  EXPECT_TRUE(cluster_->processes()->IsSchedulerRunning());
  ExpectTraining();
}

TEST_F(StandbySchedulersTest, NobodyLeadsWhileTheStorageIsAwayForLong) {
  standby().storage()->SetAway(true);
  RunFor(3 * kLease);
  for (const SimulatedProcess* process : standby().processes()) EXPECT_FALSE(process->running());
  standby().storage()->SetAway(false);
  RunFor(kBound);
  EXPECT_TRUE(cluster_->processes()->IsSchedulerRunning());
  ExpectTraining();
}

TEST_F(StandbySchedulersTest, AStorageThatIsAwayForLessThanTheLeaseIsWaitedFor) {
  standby().storage()->SetAway(true);
  RunFor(kLease / 2);
  standby().storage()->SetAway(false);
  RunFor(2 * kLease);
  EXPECT_EQ(answers_.who, std::set<NodeId>{first_});
  ExpectTraining();
}

// ---- broken rules, which the checkers must name ----

class HeedlessLeaderTest : public StandbySchedulersTest {
 protected:
  HeedlessLeaderTest() : StandbySchedulersTest({.lease = kLease, .heeds_lease = false}) {}
};

TEST_F(HeedlessLeaderTest, ALeaderThatSpeaksAfterItsLeaseIsCaught) {
  leader()->PauseUntil(cluster_->simulator()->now() + 2 * kLease);
  RunFor(3 * kLease);
  EXPECT_TRUE(cluster_->violations()->Has("terms rise")) << cluster_->violations()->Report();
}

class UnfencedStorageTest : public StandbySchedulersTest {
 protected:
  UnfencedStorageTest() : StandbySchedulersTest({.lease = kLease, .heeds_lease = false, .is_fenced = false}) {}
};

TEST_F(UnfencedStorageTest, TwoWhoWriteAtTheSameTimeAreCaught) {
  leader()->PauseUntil(cluster_->simulator()->now() + 2 * kLease);
  RunFor(6 * kLease);
  EXPECT_TRUE(cluster_->violations()->Has("one writer per term")) << cluster_->violations()->Report();
}

}  // namespace
}  // namespace banyan
