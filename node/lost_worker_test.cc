// Workers that live and push nothing, in a job that goes on without them after a while.

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyId kKey(1);

// Three nodes in a chain with a worker each; that of node 2, which is the inner one, pushes nothing.
class LostWorkerTest : public ::testing::Test {
 protected:
  void Start(AggregationOp op, uint32_t workers = 1) {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = op;
    config.aggregation.learning_rate = 1;
    config.workers = workers;
    cluster_.emplace(config, TestPlan::Chain(3));
    cluster_->Start();
    for (uint32_t node = 1; node <= 3; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Attach(node, worker);
    }
    for (uint32_t node = 1; node <= 3; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Init(node, worker, "w", {0});
    }
  }
  RequestId OthersPush(float value) {
    const RequestId request = cluster_->Push(1, 0, kKey, {value});
    cluster_->Push(3, 0, kKey, {value});
    return request;
  }
  void LeaveOut(uint64_t round) {
    cluster_->scheduler().Say(2, QuorumReached{Term(7), {{kKey, Round(round)}}});
    cluster_->Run();
  }

  std::optional<TestCluster> cluster_;
};

TEST_F(LostWorkerTest, TheOthersGoOnWithoutIt) {
  Start(AggregationOp::kMean);
  const RequestId first = OthersPush(4);
  EXPECT_FALSE(cluster_->IsDone(first));
  LeaveOut(1);
  ASSERT_TRUE(cluster_->IsDone(first));
  EXPECT_THAT(cluster_->Result(first), ElementsAre(4)) << "the mean of two";
  EXPECT_THAT(cluster_->logs().back().text, HasSubstr("worker 0 has let the others wait too long"));
  EXPECT_THAT(cluster_->Result(OthersPush(6)), ElementsAre(6)) << "at once";

  // Its replica has missed two results.
  const absl::Status refused = cluster_->StatusOf(cluster_->Push(2, 0, kKey, {9}));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("does not have the training state"));
}

TEST_F(LostWorkerTest, WithAnOptimizerItBeginsAgainWithItsNextPush) {
  Start(AggregationOp::kSgd);
  const RequestId first = OthersPush(4);
  LeaveOut(1);
  EXPECT_THAT(cluster_->Result(first), ElementsAre(-4));
  EXPECT_THAT(cluster_->Result(OthersPush(4)), ElementsAre(-8));
  const RequestId back = cluster_->Push(2, 0, kKey, {1});
  EXPECT_FALSE(cluster_->IsDone(back));
  EXPECT_THAT(cluster_->Result(OthersPush(1)), ElementsAre(-9)) << "its node has said already that it abstains";
  EXPECT_THAT(cluster_->Result(OthersPush(1)), ElementsAre(-10));
  EXPECT_THAT(cluster_->Result(back), ElementsAre(-10)) << "the parameters of all";
  const RequestId next = OthersPush(1);
  EXPECT_FALSE(cluster_->IsDone(next)) << "they wait for it again";
  cluster_->Push(2, 0, kKey, {1});
  EXPECT_THAT(cluster_->Result(next), ElementsAre(-11));
}

TEST_F(LostWorkerTest, AnotherWorkerOfItsNodeGoesOn) {
  Start(AggregationOp::kMean, 2);
  RequestId push;
  for (uint32_t node = 1; node <= 3; ++node) {
    push = cluster_->Push(node, 0, kKey, {2});
    if (node != 2) cluster_->Push(node, 1, kKey, {7});
  }
  EXPECT_FALSE(cluster_->IsDone(push));
  LeaveOut(1);
  EXPECT_THAT(cluster_->Result(push), ElementsAre(4)) << "of five gradients";
  cluster_->Push(2, 0, kKey, {1});
  for (const uint32_t node : {1u, 3u}) {
    for (uint32_t worker = 0; worker < 2; ++worker) push = cluster_->Push(node, worker, kKey, {1});
  }
  EXPECT_THAT(cluster_->Result(push), ElementsAre(1));
}

TEST_F(LostWorkerTest, WhoHasPushedTheRoundStays) {
  Start(AggregationOp::kMean);
  cluster_->Push(2, 0, kKey, {1});
  LeaveOut(1);
  EXPECT_THAT(cluster_->Result(OthersPush(1)), ElementsAre(1));
  cluster_->Push(2, 0, kKey, {4});
  EXPECT_THAT(cluster_->Result(OthersPush(1)), ElementsAre(2));
}

}  // namespace
}  // namespace banyan
