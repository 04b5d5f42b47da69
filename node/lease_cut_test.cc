// Leases that end early, seen from nodes.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/node_core.h"
#include "node/testing/epochs_fixture.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeaseCutTest : public EpochsFixture {
 protected:
  // Two members follow the plan of an epoch, and have round 1 behind them.
  void Begin() {
    Start(2);
    cluster_->ChangeMembers({1, 2}, ChainOf({1, 2}));
    Push(1, 1);
    EXPECT_THAT(cluster_->Result(Push(2, 1)), Sum(2));
    cluster_->scheduler().hold_policies = {1, 2};
  }
  void Say(const Message& message) {
    cluster_->scheduler().SayToAll(message);
    cluster_->Run();
  }
  void Lease(uint64_t first, uint64_t last) {
    const TestScheduler& scheduler = cluster_->scheduler();
    Say(PolicyAnswer{
        scheduler.term, scheduler.epoch, {{kKey, Round(first), Round(last), scheduler.version, Attempt(0)}}});
  }
  static constexpr CutId kCut = CutId(1);
  void Cut() { Say(CutSought{cluster_->scheduler().term, cluster_->scheduler().epoch, kCut}); }
  std::vector<CutBound> Bounds(uint32_t node) { return cluster_->scheduler().Said<CutBound>(node); }
  CutBound BoundOf(uint64_t round) {
    return {cluster_->scheduler().term, cluster_->scheduler().epoch, kCut, {{kKey, Round(round)}}};
  }
};

TEST_F(LeaseCutTest, WhatANodeHasNotBegunWaitsUntilItHearsAnew) {
  Begin();
  Lease(2, 12);
  Cut();
  for (const uint32_t node : {1, 2}) {
    EXPECT_THAT(Bounds(node), ElementsAre(BoundOf(2)));
    EXPECT_THAT(cluster_->scheduler().Said<PolicyRequest>(node).back().entries,
                testing::Contains(PolicyRequest::Entry{kKey, Round(2)}));
  }
  const RequestId first = Push(1, 1);
  const RequestId second = Push(2, 2);
  EXPECT_FALSE(cluster_->IsDone(first));
  Lease(2, 4);
  EXPECT_THAT(cluster_->Result(first), Sum(3));
  EXPECT_THAT(cluster_->Result(second), Sum(3));
  ExpectNothingRejected();
}

TEST_F(LeaseCutTest, ARoundThatHasBegunGoesOn) {
  Begin();
  Lease(2, 12);
  const RequestId first = Push(1, 1);
  Cut();
  EXPECT_THAT(Bounds(1), ElementsAre(BoundOf(3)));
  EXPECT_THAT(Bounds(2), ElementsAre(BoundOf(2)));
  const RequestId second = Push(2, 2);
  EXPECT_FALSE(cluster_->IsDone(second)) << "node 2 has not begun it";
  Lease(2, 2);
  EXPECT_THAT(cluster_->Result(second), Sum(3));
  EXPECT_TRUE(cluster_->IsDone(first));
  ExpectNothingRejected();
}

TEST_F(LeaseCutTest, ACutOfAnotherEpochIsOfThePast) {
  Begin();
  Lease(2, 12);
  Say(CutSought{cluster_->scheduler().term, Epoch(1), kCut});
  EXPECT_THAT(Bounds(1), IsEmpty());
  Push(1, 1);
  EXPECT_THAT(cluster_->Result(Push(2, 2)), Sum(3)) << "the lease stands";
}

TEST_F(LeaseCutTest, ACutThatIsSaidAgainIsAnsweredAlike) {
  Begin();
  Lease(2, 12);
  Cut();
  Push(1, 1);
  Cut();
  EXPECT_THAT(Bounds(1), ElementsAre(BoundOf(2), BoundOf(2)));
}

}  // namespace
}  // namespace banyan
