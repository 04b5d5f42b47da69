#include "sim/job_processes.h"

#include <utility>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

Timestamp Seconds(double seconds) { return Timestamp() + absl::Seconds(seconds); }

ClusterOptions Linked(int nodes) {
  ClusterOptions options = LinkedCluster(nodes, 2e6, 2e6);
  options.plan.rounds = 4;
  return options;
}

void RunFor(Cluster* cluster, absl::Duration time) {
  cluster->simulator()->RunUntil([] { return false; }, cluster->simulator()->now() + time);
}

TEST(JobProcessesTest, AJobWaitsForANodeThatIsAbsentAtTheStart) {
  ClusterOptions options = Linked(3);
  options.absent = {NodeId(2)};
  Cluster cluster(std::move(options));
  RunFor(&cluster, absl::Seconds(3));
  EXPECT_FALSE(cluster.processes()->IsRunning(NodeId(2)));
  EXPECT_EQ(cluster.results().results(), 0);
  cluster.processes()->StartNode(NodeId(2));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(JobProcessesTest, AProcessMayBeStartedBeforeItsTime) {
  ClusterOptions options = Linked(3);
  options.start_within = absl::Seconds(2);
  Cluster cluster(std::move(options));
  cluster.processes()->StartNode(NodeId(1));
  cluster.processes()->StartScheduler(/*with_records=*/true);
  EXPECT_TRUE(cluster.processes()->IsRunning(NodeId(1)));
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(JobProcessesTest, ANodeThatEndsBeforeTheStartOfTheJobComesBackWithItsWorkers) {
  ClusterOptions options = Linked(3);
  options.overlay.nodes[0].workers = 2;
  options.absent = {NodeId(2)};
  options.membership_changes = true;
  Cluster cluster(std::move(options));
  RunFor(&cluster, absl::Seconds(2));
  SimulatedWorker* const first = cluster.worker(NodeId(1), WorkerId(1));
  cluster.processes()->KillNode(NodeId(1), /*silently=*/false);
  EXPECT_FALSE(cluster.processes()->IsRunning(NodeId(1)));
  EXPECT_TRUE(first->lost());
  RunFor(&cluster, absl::Seconds(1));
  cluster.processes()->StartNode(NodeId(1));
  cluster.processes()->StartNode(NodeId(2));
  EXPECT_NE(cluster.worker(NodeId(1), WorkerId(1)), first);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_TRUE(cluster.failures().empty());
}

TEST(JobProcessesTest, TheSchedulerGoesOnWithItsRecords) {
  Cluster cluster(Linked(3));
  cluster.simulator()->RunUntil([&] { return cluster.rounds_done() >= 1; }, Seconds(60));
  cluster.processes()->KillScheduler(/*silently=*/false);
  RunFor(&cluster, absl::Seconds(1));
  EXPECT_FALSE(cluster.processes()->IsRunning(kSchedulerNode));
  cluster.processes()->StartScheduler(/*with_records=*/true);
  EXPECT_TRUE(cluster.RunUntilTrained(Seconds(60))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

// It says that it does not know the job, instead of beginning another one with its nodes.
TEST(JobProcessesTest, ASchedulerWithoutItsRecordsNeverPosesAsTheOldOne) {
  Cluster cluster(Linked(3));
  cluster.simulator()->RunUntil([&] { return cluster.rounds_done() >= 1; }, Seconds(60));
  cluster.processes()->KillScheduler(/*silently=*/false);
  RunFor(&cluster, absl::Milliseconds(100));
  cluster.processes()->StartScheduler(/*with_records=*/false);
  EXPECT_TRUE(cluster.RunUntilNobodyWaits(cluster.simulator()->now() + absl::Seconds(20))) << cluster.WhoWaits();
  for (const auto& [name, worker] : cluster.workers()) EXPECT_TRUE(worker->failure().has_value()) << name.node;
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
}

TEST(JobProcessesTest, AWorkerThatIsKilledIsReplacedByAnother) {
  ClusterOptions options = Linked(3);
  options.membership_changes = true;
  options.absent = {NodeId(3)};
  Cluster cluster(std::move(options));
  RunFor(&cluster, absl::Seconds(1));
  const WorkerName name{NodeId(1), WorkerId(0)};
  SimulatedWorker* const first = cluster.workers().at(name);
  cluster.processes()->KillWorker(name);
  EXPECT_TRUE(first->dead());
  cluster.processes()->StartWorker(name);
  EXPECT_NE(cluster.workers().at(name), first);
  EXPECT_FALSE(cluster.workers().at(name)->lost());
}

}  // namespace
}  // namespace banyan
