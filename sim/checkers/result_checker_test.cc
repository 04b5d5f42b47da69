#include "sim/checkers/result_checker.h"

#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

class ResultCheckerTest : public testing::Test {
 protected:
  ResultCheckerTest() {
    plan_.tensors = {{"w", 8, 0}};
    workers_ = {{NodeId(1), WorkerId(0)}, {NodeId(2), WorkerId(0)}, {NodeId(3), WorkerId(0)}};
  }

  std::vector<float> Sum(uint64_t round) const { return SumOfGradients(plan_, workers_, 0, Round(round)); }
  std::vector<float> Part(size_t worker, uint64_t round) const {
    return SumOfGradients(plan_, {&workers_[worker], 1}, 0, Round(round));
  }
  void Give(ResultChecker* checker, size_t worker, uint64_t round, const std::vector<float>& values) {
    checker->OnResult(Timestamp(), workers_[worker], 0, Round(round), values);
  }

  // Top-k, with or without error feedback.
  static CompressionConfig Compressed(bool feedback = true) {
    CompressionConfig config;
    config.rules = {{.codec = CodecId::kTopK, .error_feedback = feedback}};
    config.least_elements = 1;
    return config;
  }

  TrainingPlan plan_;
  std::vector<WorkerName> workers_;
  Violations violations_;
};

TEST_F(ResultCheckerTest, TheRightSumOnEveryMemberPasses) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kSum, {}, &violations_);
  for (size_t worker = 0; worker < 3; ++worker) Give(&checker, worker, 1, Sum(1));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker.results(), 3);
}

TEST_F(ResultCheckerTest, AChildCountedTwiceIsCaught) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kSum, {}, &violations_);
  std::vector<float> values = Sum(1);
  for (size_t i = 0; i < values.size(); ++i) values[i] += Part(1, 1)[i];
  for (size_t worker = 0; worker < 3; ++worker) Give(&checker, worker, 1, values);
  EXPECT_TRUE(violations_.Has("exactly once"));
  EXPECT_FALSE(violations_.Has("identical replicas"));
}

TEST_F(ResultCheckerTest, AForgottenChildIsCaught) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kMean, {}, &violations_);
  std::vector<float> values = Sum(1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = (values[i] - Part(2, 1)[i]) / 3;
  Give(&checker, 0, 1, values);
  EXPECT_TRUE(violations_.Has("exactly once"));
}

TEST_F(ResultCheckerTest, ReplicasThatDifferAreCaughtEvenWhenTheValueIsUnknown) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kAdam, {}, &violations_);
  std::vector<float> values(8, 0.5f);
  Give(&checker, 0, 1, values);
  EXPECT_TRUE(violations_.empty());
  values[7] = 0.50000006f;
  Give(&checker, 1, 1, values);
  EXPECT_TRUE(violations_.Has("identical replicas"));
  EXPECT_FALSE(checker.replicas_identical());
}

TEST_F(ResultCheckerTest, InitialValuesAreTheLowestWorkers) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kSum, {}, &violations_);
  Give(&checker, 2, 0, Part(0, 0));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  Give(&checker, 1, 0, Part(1, 0));
  EXPECT_TRUE(violations_.Has("exactly once"));
}

TEST_F(ResultCheckerTest, WhatCompressionMakesOfASumOnlyHasToBeTheSame) {
  ResultChecker checker(&plan_, workers_, AggregationOp::kSum, Compressed(), &violations_);
  std::vector<float> values = Sum(1);
  values[2] = 0;
  for (size_t worker = 0; worker < 3; ++worker) Give(&checker, worker, 1, values);
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  for (size_t worker = 0; worker < 2; ++worker) Give(&checker, worker, 2, values);
  values[2] = 1;
  Give(&checker, 2, 2, values);
  EXPECT_FALSE(violations_.empty());
  EXPECT_FALSE(checker.replicas_identical());
}

TEST_F(ResultCheckerTest, AFlushMustBringWhatEarlierRoundsKeptBack) {
  plan_.flush_every = 3;
  for (float missing : {0.0f, 1.0f}) {
    Violations violations;
    ResultChecker checker(&plan_, workers_, AggregationOp::kSum, Compressed(), &violations);
    std::vector<float> kept_back = Sum(1);
    Give(&checker, 0, 1, std::vector<float>(8));
    Give(&checker, 0, 2, Sum(2));
    std::vector<float> flushed = Sum(3);
    for (size_t i = 0; i < 8; ++i) flushed[i] += kept_back[i];
    flushed[5] -= missing;
    Give(&checker, 0, 3, flushed);
    EXPECT_EQ(violations.Has("nothing lost"), missing != 0);
  }
}

TEST_F(ResultCheckerTest, AFlushMustBringWhatMeansOfVotesHaveLeftOut) {
  plan_.flush_every = 2;
  for (float missing : {0.0f, 1.0f}) {
    Violations violations;
    ResultChecker checker(&plan_, workers_, AggregationOp::kMean, {}, &violations);
    VoteRules rules;
    rules.aggregate = VoteAggregate::kMean;
    const PrecisionBinding binding("", {}, {});
    checker.ExpectVotes(rules, &binding);
    Give(&checker, 0, 1, std::vector<float>(8, 2.0f));
    std::vector<float> flushed(8);
    for (size_t i = 0; i < 8; ++i) flushed[i] = (Sum(1)[i] + Sum(2)[i] - missing) / 3 - 2;
    Give(&checker, 0, 2, flushed);
    EXPECT_EQ(violations.Has("nothing lost"), missing != 0);
  }
}

TEST_F(ResultCheckerTest, WithoutErrorFeedbackAFlushOwesNothing) {
  plan_.flush_every = 2;
  ResultChecker checker(&plan_, workers_, AggregationOp::kSum, Compressed(false), &violations_);
  Give(&checker, 0, 1, std::vector<float>(8));
  Give(&checker, 0, 2, Sum(2));
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
}

}  // namespace
}  // namespace banyan
