#include "sim/checkers/replica_checker.h"

#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint64_t kLastStep = 20;

WorkerName WorkerOf(uint32_t node) { return {NodeId(node), WorkerId(0)}; }

// Three nodes with a worker each, which are members from epoch 1 on.
class ReplicaCheckerTest : public testing::Test {
 protected:
  ReplicaCheckerTest() {
    for (uint32_t node = 1; node <= 3; ++node) checker_.OnStarted(now_, WorkerOf(node));
    Begin(1, {1, 2, 3});
  }

  void Begin(uint64_t epoch, const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      PolicyPublished published;
      published.slice.epoch = Epoch(epoch);
      published.slice.member_count = static_cast<uint32_t>(nodes.size());
      membership_.OnSent({now_, kSchedulerNode, NodeId(node), Channel::kControl, 1, 1, 64, published, Payload()});
      EpochPlan plan;
      plan.epoch = Epoch(epoch);
      membership_.OnSent({now_, kSchedulerNode, NodeId(node), Channel::kControl, 1, 1, 64, plan, Payload()});
    }
  }
  void Has(uint32_t node, ReplicaMark replica) { checker_.OnReplica(now_, WorkerOf(node), replica); }

  Timestamp now_ = Timestamp() + absl::Seconds(1);
  MembershipWatch membership_;
  Violations violations_;
  ReplicaChecker checker_{kLastStep, &membership_, &violations_};
};

TEST_F(ReplicaCheckerTest, AllHaveTheSameModelAfterAStep) {
  Has(1, {5, 0, 77});
  Has(2, {5, 0, 77});
  Has(2, {6, 0, 78});
  EXPECT_TRUE(violations_.empty());
  EXPECT_EQ(checker_.compared(), 1);
  Has(3, {6, 0, 79});
  EXPECT_NE(violations_.Report().find("worker 0 of node 3 after step 6 differs"), std::string::npos);
}

TEST_F(ReplicaCheckerTest, WhoBeganWithItsOwnValuesHasAnotherModel) {
  Has(1, {5, 0, 77});
  Has(2, {5, 123, 78});
  EXPECT_TRUE(violations_.empty());
  Has(3, {5, 123, 79});
  EXPECT_FALSE(violations_.empty()) << "it fetched that model";
}

TEST_F(ReplicaCheckerTest, WhatOnlyThoseHadWhoAreGoneMayBeMadeAgain) {
  Has(1, {5, 0, 77});
  checker_.OnEnded(now_, WorkerOf(1));
  Has(2, {5, 0, 78});
  Begin(2, {1, 3});
  Has(3, {5, 0, 79});
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

TEST_F(ReplicaCheckerTest, NobodyBeginsAloneBesideAModel) {
  checker_.OnBeganAlone(now_, WorkerOf(3), now_);
  Has(2, {kLastStep, 0, 77});
  checker_.OnBeganAlone(now_ + absl::Seconds(2), WorkerOf(3), now_ + absl::Seconds(1));
  EXPECT_TRUE(violations_.empty()) << "who is at the end gives nothing";
  Has(1, {5, 0, 78});
  checker_.OnBeganAlone(now_ + absl::Seconds(2), WorkerOf(3), now_);
  EXPECT_TRUE(violations_.empty()) << "it had none when it was asked";
  checker_.OnBeganAlone(now_ + absl::Seconds(2), WorkerOf(3), now_ + absl::Seconds(1));
  EXPECT_FALSE(violations_.empty());
}

TEST_F(ReplicaCheckerTest, WhoHasLeftGivesNothing) {
  Has(1, {5, 0, 78});
  membership_.OnSent(
      {now_, NodeId(1), kSchedulerNode, Channel::kControl, 1, 1, 64, Leave{"it was stopped"}, Payload()});
  checker_.OnBeganAlone(now_ + absl::Seconds(2), WorkerOf(3), now_ + absl::Seconds(1));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

}  // namespace
}  // namespace banyan
