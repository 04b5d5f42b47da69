#include "sim/faults/fault_injector.h"

#include <utility>

#include "gtest/gtest.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

// Half a second long, half a second after the start.
Fault FaultOf(FaultKind kind, NodeId node) {
  Fault fault;
  fault.kind = kind;
  fault.node = fault.other = node;
  fault.at = absl::Milliseconds(500);
  fault.lasts = absl::Milliseconds(500);
  return fault;
}

class FaultInjectorTest : public testing::Test {
 protected:
  static ClusterOptions Options() {
    ClusterOptions options = LinkedCluster(3, 2e6, 2e6);
    options.plan.rounds = 8;
    return options;
  }
  // With node 3 away, so that the job has not begun.
  static ClusterOptions Waiting() {
    ClusterOptions options = Options();
    options.absent = {NodeId(3)};
    options.membership_changes = true;
    return options;
  }
  static void RunUntil(Cluster* cluster, double seconds) {
    cluster->simulator()->RunUntil([] { return false; }, Seconds(seconds));
  }
};

TEST_F(FaultInjectorTest, AJobOutlivesEachTransientFault) {
  for (const FaultKind kind : TransientFaultKinds()) {
    SCOPED_TRACE(NameOf(kind));
    Cluster cluster(Options());
    Fault fault = FaultOf(kind, kind >= FaultKind::kPauseScheduler ? kSchedulerNode : NodeId(1));
    if (kind != FaultKind::kPause && fault.node != kSchedulerNode) fault.other = NodeId(2);
    const FaultInjector injector({fault}, 1, &cluster);
    EXPECT_EQ(injector.quiet_at(), Seconds(1));
    EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
    EXPECT_EQ(injector.happened().at(kind), 1);
    EXPECT_TRUE(cluster.processes()->IsRunning(kSchedulerNode));
  }
}

TEST_F(FaultInjectorTest, ACutInOneDirectionHoldsWhatIsSentThere) {
  Cluster cluster(Options());
  Fault cut = FaultOf(FaultKind::kCutLink, NodeId(1));
  cut.other = NodeId(2);
  cut.is_one_way = cut.is_silent = true;
  const FaultInjector injector({cut}, 1, &cluster);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST_F(FaultInjectorTest, AKilledNodeStartsAgain) {
  Cluster cluster(Waiting());
  const FaultInjector injector({FaultOf(FaultKind::kKillNode, NodeId(1))}, 1, &cluster);
  RunUntil(&cluster, 0.8);
  EXPECT_FALSE(cluster.processes()->IsRunning(NodeId(1)));
  EXPECT_TRUE(cluster.worker(NodeId(1), WorkerId(0))->lost());
  RunUntil(&cluster, 1.5);
  EXPECT_TRUE(cluster.processes()->IsRunning(NodeId(1)));
  EXPECT_FALSE(cluster.worker(NodeId(1), WorkerId(0))->lost());
}

TEST_F(FaultInjectorTest, ANodeThatLeavesComesBackOrNot) {
  for (const bool for_good : {false, true}) {
    ClusterOptions options = Waiting();
    // Nobody leaves for good before the start.
    if (for_good) options.absent.clear();
    ChangingCluster changing(std::move(options));
    Cluster& cluster = *changing;
    Fault leave = FaultOf(FaultKind::kLeave, NodeId(2));
    leave.is_for_good = for_good;
    const FaultInjector injector({leave}, 1, &cluster);
    RunUntil(&cluster, 0.9);
    EXPECT_FALSE(cluster.processes()->IsRunning(NodeId(2)));
    RunUntil(&cluster, 5);
    EXPECT_EQ(cluster.processes()->IsRunning(NodeId(2)), !for_good);
    EXPECT_EQ(injector.gone().size(), for_good ? 1u : 0u);
    // As when an operator lets it in again.
    if (for_good) cluster.processes()->StartNode(NodeId(2));
    EXPECT_EQ(cluster.processes()->IsRunning(NodeId(2)), !for_good);
    EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  }
}

TEST_F(FaultInjectorTest, ANodeThatStartsLateCompletesTheJob) {
  ClusterOptions options = Waiting();
  Fault late = FaultOf(FaultKind::kLateStart, NodeId(3));
  late.at = absl::ZeroDuration();
  Cluster cluster(std::move(options));
  const FaultInjector injector({late}, 1, &cluster);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_GT(cluster.simulator()->now(), injector.quiet_at());
}

TEST_F(FaultInjectorTest, AWorkerIsReplaced) {
  Cluster cluster(Waiting());
  const SimulatedWorker* const first = cluster.worker(NodeId(1), WorkerId(0));
  const FaultInjector injector({FaultOf(FaultKind::kKillWorker, NodeId(1))}, 1, &cluster);
  RunUntil(&cluster, 0.9);
  EXPECT_TRUE(first->dead());
  RunUntil(&cluster, 1.5);
  EXPECT_NE(cluster.worker(NodeId(1), WorkerId(0)), first);
}

TEST_F(FaultInjectorTest, AFaultWithoutAVictimDoesNothing) {
  Cluster cluster(Waiting());
  const FaultInjector injector({FaultOf(FaultKind::kPause, NodeId(3)), FaultOf(FaultKind::kKillWorker, NodeId(3))}, 1,
                               &cluster);
  RunUntil(&cluster, 5);
  EXPECT_TRUE(injector.happened().empty());
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

}  // namespace
}  // namespace banyan
