// Nodes whose workers fetch the training state of others: for whom the members wait meanwhile, and for whom no more.
#include <cstdint>
#include <string>
#include <vector>

#include "core/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr KeyId kKey(1);
constexpr TransferId kTransfer(9);
constexpr RequestId kFetch(1 << 20);
constexpr RequestId kBoundary((1 << 20) + 1);
const std::vector<uint8_t> kState = {1, 2, 3, 4};

// Two nodes; a worker of the first one is about to fetch.
class FetchingNodeTest : public ::testing::Test {
 protected:
  static JobConfig Config(uint32_t workers) {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = AggregationOp::kSum;
    config.workers = workers;
    config.rounds_in_flight = 1;
    return config;
  }
  // All workers of both nodes are there and have finished round 1.
  void Begin(TestCluster& cluster, uint32_t workers) {
    cluster.Start();
    for (uint32_t node : {1, 2}) {
      for (uint32_t worker = 0; worker < workers; ++worker) {
        cluster.Attach(node, worker);
        cluster.Init(node, worker, "w", {1});
      }
    }
    for (uint32_t node : {1, 2}) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster.Push(node, worker, kKey, {1});
    }
  }
  static void State(TestCluster& cluster, uint32_t node, StateCall call) {
    cluster.Step(node, StateCalled{std::move(call)});
    cluster.Run();
  }
  // Restarts the worker of node 1, which shares its state and fetches.
  static void RestartAndFetch(TestCluster& cluster, WorkerId worker) {
    cluster.Detach(1, worker.value(), false);
    cluster.Attach(1, worker.value());
    cluster.Init(1, worker.value(), "w", {1});
    State(cluster, 1, WorkerShareState{RequestId(1 << 21), worker, Shape()});
    State(cluster, 1, WorkerFetchState{kFetch, worker, absl::InfiniteDuration()});
  }
  static StateShape Shape() { return {{{"state", static_cast<int64_t>(kState.size())}}}; }
  // Node 2 gives the state after this round.
  static void NameHolder(TestCluster& cluster, Round last) {
    State(cluster, 2, WorkerShareState{RequestId(1 << 22), WorkerId(0), Shape()});
    cluster.Inject(2, kSchedulerConnection, StateSought{Term(7), kTransfer, "n1 fetches the state"});
    State(cluster, 2, WorkerPassBoundary{kBoundary, WorkerId(0), last.value()});
    cluster.Inject(
        1, kSchedulerConnection,
        StateHolders{
            cluster.scheduler().term, kTransfer, 1, last.value(), {{kKey, kKey, last}}, {{NodeId(1), NodeId(2)}}});
    cluster.Run();
  }
  static void NextEpoch(TestCluster& cluster) { cluster.ChangeMembers({1, 2}, TestPlan::Star(2)); }
};

TEST_F(FetchingNodeTest, BetweenInitAndShareStateNobodySaysThatThereIsNone) {
  TestCluster cluster(Config(1), TestPlan::Star(2));
  cluster.Start();
  for (uint32_t node : {1, 2}) {
    cluster.Attach(node, 0, /*needs_state=*/true);
    cluster.Init(node, 0, "w", {1});
  }
  for (uint32_t node : {1, 2}) {
    cluster.Inject(node, kSchedulerConnection, StateSought{Term(7), kTransfer, "n3 fetches the state"});
    EXPECT_TRUE(cluster.scheduler().Said<NoState>(node).empty());
  }
  State(cluster, 1, WorkerShareState{RequestId(1 << 21), WorkerId(0), Shape()});
  State(cluster, 1, WorkerPassBoundary{kBoundary, WorkerId(0), 0});
  EXPECT_EQ(cluster.scheduler().Said<BoundaryHeld>(1).size(), 1u);
  cluster.Push(2, 0, kKey, {1});
  EXPECT_EQ(cluster.scheduler().Said<NoState>(2).size(), 1u) << "who pushes without a state shares none";
}

TEST_F(FetchingNodeTest, AfterANewStartOfTheSchedulerNobodyWaitsForAWorkerThatFetches) {
  TestCluster cluster(Config(1), TestPlan::Star(2));
  Begin(cluster, 1);
  RestartAndFetch(cluster, WorkerId(0));
  const RequestId second = cluster.Push(2, 0, kKey, {5});
  EXPECT_THAT(cluster.Result(second), ElementsAre(5)) << "the node abstains";
  const Round last = cluster.Completion(second).round;
  NameHolder(cluster, last);
  NextEpoch(cluster);
  const RequestId third = cluster.Push(2, 0, kKey, {6});
  EXPECT_FALSE(cluster.IsDone(third)) << "the worker is to begin with this round";
  cluster.scheduler().term = Term(8);
  cluster.BreakSchedulerConnection(1);
  cluster.BreakSchedulerConnection(2);
  cluster.Run();
  EXPECT_THAT(cluster.Result(third), ElementsAre(6));
  EXPECT_FALSE(cluster.IsDone(kFetch)) << "it asks the new one";
}

TEST_F(FetchingNodeTest, AfterTheDeathOfTheWorkerNobodyWaitsForIt) {
  TestCluster cluster(Config(1), TestPlan::Star(2));
  Begin(cluster, 1);
  RestartAndFetch(cluster, WorkerId(0));
  const RequestId second = cluster.Push(2, 0, kKey, {5});
  NameHolder(cluster, cluster.Completion(second).round);
  NextEpoch(cluster);
  const RequestId third = cluster.Push(2, 0, kKey, {6});
  EXPECT_FALSE(cluster.IsDone(third));
  cluster.Detach(1, 0, false);
  EXPECT_THAT(cluster.Result(third), ElementsAre(6));
}

TEST_F(FetchingNodeTest, WhatOthersOfTheNodeHavePushedIsTakenBackForAWorkerThatFetches) {
  TestCluster cluster(Config(2), TestPlan::Star(2));
  Begin(cluster, 2);
  RestartAndFetch(cluster, WorkerId(1));
  cluster.Push(1, 0, kKey, {10});
  NameHolder(cluster, Round(1));
  const uint64_t hash = DigestBytes(kState, 0);
  State(cluster, 2,
        WorkerStateRead{WorkerId(0), std::nullopt,
                        Buffer::CopyOfBytes({reinterpret_cast<const uint8_t*>(&hash), sizeof(hash)})});
  State(cluster, 2, WorkerStateRead{WorkerId(0), ChunkIndex(0), Buffer::CopyOfBytes(kState)});
  State(cluster, 1, WorkerStateWritten{WorkerId(1), ChunkIndex(0), true});
  NextEpoch(cluster);
  for (uint32_t node : {1, 2}) {
    cluster.Inject(node, kSchedulerConnection,
                   StateReleased{Term(7), kTransfer, node == 1 ? 1u : 0u, absl::StatusCode::kOk, ""});
  }
  cluster.Run();
  ASSERT_TRUE(cluster.StatusOf(kFetch).ok());
  for (uint32_t worker : {0, 1}) cluster.Push(2, worker, kKey, {100});
  const RequestId push = cluster.Push(1, 1, kKey, {1});
  EXPECT_EQ(cluster.Completion(push).round, Round(2));
  EXPECT_THAT(cluster.Result(push), ElementsAre(211));
}

TEST_F(FetchingNodeTest, WhatWasTakenBackGoesInAgainWhenTheFetchFails) {
  TestCluster cluster(Config(2), TestPlan::Star(2));
  Begin(cluster, 2);
  RestartAndFetch(cluster, WorkerId(1));
  const RequestId first = cluster.Push(1, 0, kKey, {10});
  NameHolder(cluster, Round(1));
  NextEpoch(cluster);
  for (uint32_t worker : {0, 1}) cluster.Push(2, worker, kKey, {100});
  EXPECT_FALSE(cluster.IsDone(first));
  // Its node has worker 0 alone in this round, dead or alive.
  cluster.Detach(1, 0, false);
  cluster.Inject(1, kSchedulerConnection,
                 StateReleased{Term(7), kTransfer, 1, absl::StatusCode::kUnavailable, "nobody holds it any more"});
  cluster.Run();
  EXPECT_EQ(cluster.StatusOf(kFetch).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cluster.StatusOf(cluster.Push(1, 1, kKey, {1})).code(), absl::StatusCode::kFailedPrecondition)
      << "it has no state";
  State(cluster, 1, WorkerShareState{RequestId((1 << 20) + 2), WorkerId(1), {}});
  const RequestId push = cluster.Push(1, 1, kKey, {1});
  // Its node has abstained from round 3 meanwhile.
  for (uint32_t worker : {0, 1}) cluster.Push(2, worker, kKey, {100});
  EXPECT_FALSE(cluster.IsDone(push));
  for (uint32_t worker : {0, 1}) cluster.Push(2, worker, kKey, {100});
  ASSERT_TRUE(cluster.IsDone(push));
  EXPECT_EQ(cluster.Completion(push).round, Round(4));
  EXPECT_THAT(cluster.Result(push), ElementsAre(201));
}

}  // namespace
}  // namespace banyan
