// Rounds that close without late workers, through whole nodes.

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/testing/test_cluster.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr KeyId kKey(1);

// Four nodes in a chain with a worker each, two elements in two chunks. Node 2 is an inner node; its worker is late.
class QuorumRoundsTest : public ::testing::Test {
 protected:
  void Start(AggregationOp op = AggregationOp::kMean, uint32_t workers = 1, CompressionConfig compression = {},
             uint32_t rounds_in_flight = 1, NotFiniteRule not_finite = NotFiniteRule::kKeep) {
    JobConfig config;
    config.job = "job";
    config.aggregation.op = op;
    config.aggregation.learning_rate = 1;
    config.aggregation.quorum = 0.75;
    config.aggregation.not_finite = not_finite;
    config.aggregation.grace = absl::Milliseconds(100);
    config.chunk_max_elements = 1;
    config.workers = workers;
    config.rounds_in_flight = rounds_in_flight;
    config.compression = std::move(compression);
    cluster_.emplace(config, TestPlan::Chain(4));
    cluster_->Start();
    for (uint32_t node = 1; node <= 4; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Attach(node, worker);
    }
    for (uint32_t node = 1; node <= 4; ++node) {
      for (uint32_t worker = 0; worker < workers; ++worker) cluster_->Init(node, worker, "w", {0, 0});
    }
  }
  // The others push `value`, and a quorum is said to have. Returns the call of node 1.
  RequestId OthersPush(float value, uint64_t round) {
    const RequestId request = cluster_->Push(1, 0, kKey, {value, value});
    for (const uint32_t node : {3u, 4u}) cluster_->Push(node, 0, kKey, {value, value});
    Quorum(round);
    return request;
  }
  void Quorum(uint64_t round) {
    cluster_->scheduler().SayToAll(QuorumReached{Term(7), {{kKey, Round(round)}}});
    cluster_->Run();
  }
  // A round without node 2. Returns its result.
  std::vector<float> LateRound(float value, uint64_t round) {
    const RequestId request = OthersPush(value, round);
    cluster_->Advance(absl::Milliseconds(100));
    EXPECT_TRUE(cluster_->IsDone(request)) << "round " << round;
    return cluster_->Result(request);
  }

  std::optional<TestCluster> cluster_;
};

TEST_F(QuorumRoundsTest, ALateGradientComesWithTheNextRound) {
  Start();
  const RequestId first = OthersPush(4, 1);
  cluster_->Advance(absl::Milliseconds(99));
  EXPECT_FALSE(cluster_->IsDone(first)) << "within the grace";
  cluster_->Advance(absl::Milliseconds(1));
  ASSERT_TRUE(cluster_->IsDone(first));
  EXPECT_THAT(cluster_->Result(first), ElementsAre(4, 4)) << "the mean of those who have pushed";

  const RequestId late = cluster_->Push(2, 0, kKey, {9, 9});
  ASSERT_TRUE(cluster_->IsDone(late)) << "at once";
  EXPECT_THAT(cluster_->Result(late), ElementsAre(4, 4));
  EXPECT_EQ(cluster_->Completion(late).round, Round(1));

  // In time again.
  const RequestId next = cluster_->Push(2, 0, kKey, {4, 4});
  EXPECT_THAT(cluster_->Result(OthersPush(4, 2)), ElementsAre(5, 5)) << "the mean of five gradients";
  EXPECT_THAT(cluster_->Result(next), ElementsAre(5, 5));
}

TEST_F(QuorumRoundsTest, WhoIsBehindGetsNoGraceAndAllItsResultsAtOnce) {
  Start();
  LateRound(4, 1);
  for (uint64_t round = 2; round <= 4; ++round) {
    EXPECT_THAT(cluster_->Result(OthersPush(4, round)), ElementsAre(4, 4)) << "without any time";
  }
  const RequestId first = cluster_->Push(2, 0, kKey, {4, 14});
  ASSERT_TRUE(cluster_->IsDone(first));
  EXPECT_THAT(cluster_->Result(first), ElementsAre(16, 16)) << "of four rounds";
  const RequestId second = cluster_->Push(2, 0, kKey, {4, 14});
  ASSERT_TRUE(cluster_->IsDone(second));
  EXPECT_THAT(cluster_->Result(second), ElementsAre(0, 0)) << "nothing new";
  // Both gradients go into the round that is next, though its worker is late in that one too.
  EXPECT_THAT(cluster_->Result(OthersPush(4, 5)), ElementsAre(4, 8));
  const RequestId third = cluster_->Push(2, 0, kKey, {4, 4});
  EXPECT_THAT(cluster_->Result(third), ElementsAre(4, 8));
  EXPECT_THAT(cluster_->Result(OthersPush(4, 6)), ElementsAre(4, 4));
}

TEST_F(QuorumRoundsTest, ItCatchesUpWhileTheOthersWait) {
  Start();
  for (uint64_t round = 1; round <= 3; ++round) LateRound(4, round);
  for (int push = 0; push < 3; ++push) EXPECT_TRUE(cluster_->IsDone(cluster_->Push(2, 0, kKey, {11, 11})));
  const RequestId in_time = cluster_->Push(2, 0, kKey, {4, 4});
  EXPECT_FALSE(cluster_->IsDone(in_time));
  // Of 3 * 11 of before and 4 * 4 of now.
  EXPECT_THAT(cluster_->Result(OthersPush(4, 4)), ElementsAre(FloatEq(7), FloatEq(7)));
  EXPECT_THAT(cluster_->Result(in_time), ElementsAre(FloatEq(7), FloatEq(7)));
}

TEST_F(QuorumRoundsTest, AFlushWaitsForAllThatIsOwed) {
  Start();
  for (uint64_t round = 1; round <= 2; ++round) LateRound(4, round);
  std::vector<RequestId> flushes;
  for (const uint32_t node : {1u, 3u, 4u}) flushes.push_back(cluster_->Flush(node, 0, kKey, {0, 0}));
  Quorum(2);
  cluster_->Advance(absl::Seconds(1));
  EXPECT_FALSE(cluster_->IsDone(flushes[0]));
  cluster_->Push(2, 0, kKey, {8, 8});
  cluster_->Push(2, 0, kKey, {10, 4});
  EXPECT_FALSE(cluster_->IsDone(flushes[0]));
  const RequestId late = cluster_->Flush(2, 0, kKey, {0, 0});
  for (const RequestId flush : flushes) EXPECT_THAT(cluster_->Result(flush), ElementsAre(3, 2));
  EXPECT_THAT(cluster_->Result(late), ElementsAre(3, 2));
  for (const uint32_t node : {1u, 3u, 4u}) {
    EXPECT_THAT(cluster_->scheduler().Said<RoundsPushed>(node).back().runs, ElementsAre(KeyProgressRun{kKey, Round(2)}))
        << "a flush counts for no quorum";
  }
}

TEST_F(QuorumRoundsTest, NobodyGoesOnWithoutAQuorum) {
  Start();
  const RequestId push = cluster_->Push(1, 0, kKey, {4, 4});
  cluster_->Advance(absl::Seconds(3));
  EXPECT_FALSE(cluster_->IsDone(push));
  EXPECT_THAT(cluster_->scheduler().Said<RoundsPushed>(1), ElementsAre(RoundsPushed{{{kKey, Round(1)}}}));
  EXPECT_THAT(cluster_->scheduler().Said<RoundsPushed>(2), IsEmpty());
}

TEST_F(QuorumRoundsTest, AWorkerGetsTheNewestParameters) {
  Start(AggregationOp::kSgd);
  LateRound(4, 1);
  EXPECT_THAT(LateRound(4, 2), ElementsAre(-8, -8));
  const RequestId first = cluster_->Push(2, 0, kKey, {4, 9});
  EXPECT_THAT(cluster_->Result(first), ElementsAre(-8, -8));
  const RequestId second = cluster_->Push(2, 0, kKey, {4, 9});
  EXPECT_THAT(cluster_->Result(second), ElementsAre(-8, -8)) << "they still are";
  EXPECT_THAT(cluster_->Result(OthersPush(4, 3)), IsEmpty()) << "in time so far";
  const RequestId third = cluster_->Push(2, 0, kKey, {4, 0});
  EXPECT_THAT(cluster_->Result(third), ElementsAre(-8 - 4, -8 - 5));
}

TEST_F(QuorumRoundsTest, ItsPushAndPullMayBeApart) {
  Start();
  LateRound(4, 1);
  LateRound(8, 2);
  cluster_->PushOnly(2, 0, kKey, {4, 4});
  ASSERT_EQ(cluster_->ToldComplete(2).size(), 1u);
  EXPECT_EQ(cluster_->ToldComplete(2).back().round, Round(1));
  EXPECT_THAT(cluster_->Result(cluster_->Pull(2, 0, kKey)), ElementsAre(12, 12));
  EXPECT_THAT(cluster_->Result(cluster_->Pull(2, 0, kKey)), ElementsAre(12, 12)) << "the same again";
  cluster_->PushOnly(2, 0, kKey, {9, 9});
  LateRound(4, 3);
  EXPECT_THAT(cluster_->Result(cluster_->Pull(2, 0, kKey)), ElementsAre(5, 5));
}

TEST_F(QuorumRoundsTest, AResultThatIsPulledLateIsNotLost) {
  Start();
  std::vector<RequestId> pushes;
  cluster_->PushOnly(2, 0, kKey, {4, 4});
  OthersPush(4, 1);
  LateRound(8, 2);
  EXPECT_THAT(cluster_->Result(cluster_->Pull(2, 0, kKey)), ElementsAre(4 + 8, 4 + 8));
}

TEST_F(QuorumRoundsTest, WhatIsSaidOfFarRoundsChangesNothing) {
  Start();
  cluster_->scheduler().Say(2, QuorumReached{Term(7), {{kKey, Round(UINT64_MAX)}}});
  LateRound(4, 1);
  // In round 2 it is late at once, and nobody else has pushed that.
  EXPECT_EQ(cluster_->Result(cluster_->Push(2, 0, kKey, {8, 8})), (std::vector<float>{4, 4}));
  EXPECT_THAT(cluster_->Result(OthersPush(4, 2)), ElementsAre(4, 4));
  EXPECT_THAT(cluster_->Result(OthersPush(4, 3)), ElementsAre(5, 5));
}

// It is ahead of the results, and late in a round of which the others are ahead of them as well.
TEST_F(QuorumRoundsTest, ResultsOnTheirWayReachWhoBecomesLate) {
  Start(AggregationOp::kMean, 1, {}, /*rounds_in_flight=*/2);
  const auto hold_results = [](uint32_t, uint32_t to, const Message& message) {
    const auto* chunk = std::get_if<ChunkMessage>(&message);
    const bool is_result = chunk != nullptr && chunk->id.half == Half::kBroadcast;
    return to == 2 && is_result ? TestCluster::Fate::kHold : TestCluster::Fate::kDeliver;
  };
  cluster_->filter = hold_results;
  const RequestId first = cluster_->Push(2, 0, kKey, {4, 4});
  const RequestId second = cluster_->Push(2, 0, kKey, {8, 8});
  OthersPush(4, 1);
  cluster_->scheduler().Say(2, QuorumReached{Term(7), {{kKey, Round(3)}}});
  cluster_->Advance(absl::Milliseconds(100));
  EXPECT_FALSE(cluster_->IsDone(first));
  cluster_->filter = nullptr;
  cluster_->ReleaseHeld();
  EXPECT_THAT(cluster_->Result(first), ElementsAre(4, 4));
  for (const uint32_t node : {1u, 3u, 4u}) cluster_->Push(node, 0, kKey, {8, 8});
  EXPECT_THAT(cluster_->Result(second), ElementsAre(8, 8));
}

TEST_F(QuorumRoundsTest, OneOfTwoWorkersIsLate) {
  Start(AggregationOp::kMean, 2);
  std::vector<RequestId> pushes;
  for (uint32_t node = 1; node <= 4; ++node) {
    pushes.push_back(cluster_->Push(node, 0, kKey, {8, 8}));
    if (node != 2) cluster_->Push(node, 1, kKey, {8, 8});
  }
  Quorum(1);
  cluster_->Advance(absl::Milliseconds(100));
  for (const RequestId push : pushes) EXPECT_THAT(cluster_->Result(push), ElementsAre(8, 8));
  const RequestId late = cluster_->Push(2, 1, kKey, {17, 26});
  EXPECT_THAT(cluster_->Result(late), ElementsAre(8, 8));
  for (uint32_t node = 1; node <= 4; ++node) {
    for (uint32_t worker = 0; worker < 2; ++worker) pushes.push_back(cluster_->Push(node, worker, kKey, {8, 8}));
  }
  EXPECT_THAT(cluster_->Result(pushes.back()), ElementsAre(9, 10));
}

TEST_F(QuorumRoundsTest, ALateGradientThatIsSkippedIsInNoMean) {
  Start(AggregationOp::kMean, 1, {}, 1, NotFiniteRule::kSkip);
  EXPECT_THAT(LateRound(4, 1), ElementsAre(4, 4));
  EXPECT_THAT(cluster_->Result(cluster_->Push(2, 0, kKey, {NAN, 8})), ElementsAre(4, 4));
  cluster_->Push(2, 0, kKey, {4, 4});
  EXPECT_THAT(cluster_->Result(OthersPush(4, 2)), ElementsAre(4, 4));
}

TEST_F(QuorumRoundsTest, ALateGradientComesBesideOneThatIsSkipped) {
  Start(AggregationOp::kMean, 1, {}, 1, NotFiniteRule::kSkip);
  LateRound(4, 1);
  cluster_->Push(2, 0, kKey, {8, 8});
  cluster_->Push(2, 0, kKey, {NAN, 4});
  EXPECT_THAT(cluster_->Result(OthersPush(4, 2)), ElementsAre(5, 5));
}

TEST_F(QuorumRoundsTest, WhoDiesLateIsInNoMean) {
  Start();
  EXPECT_THAT(LateRound(4, 1), ElementsAre(4, 4));
  cluster_->Detach(2, 0, /*clean=*/false);
  EXPECT_THAT(cluster_->Result(OthersPush(4, 2)), ElementsAre(4, 4));
}

TEST_F(QuorumRoundsTest, OneOfTwoWorkersDiesAfterItsLateGradientCame) {
  Start(AggregationOp::kMean, 2);
  for (uint32_t node = 1; node <= 4; ++node) {
    cluster_->PushOnly(node, 0, kKey, {8, 8});
    if (node != 2) cluster_->PushOnly(node, 1, kKey, {8, 8});
  }
  Quorum(1);
  cluster_->Advance(absl::Milliseconds(100));
  cluster_->PushOnly(2, 1, kKey, {16, 24});
  cluster_->Detach(2, 1, /*clean=*/false);
  RequestId push;
  for (uint32_t node = 1; node <= 4; ++node) {
    push = cluster_->Push(node, 0, kKey, {8, 8});
    if (node != 2) cluster_->PushOnly(node, 1, kKey, {8, 8});
  }
  EXPECT_THAT(cluster_->Result(push), ElementsAre(9, 10)) << "of seven gradients and a late one";
}

TEST_F(QuorumRoundsTest, MoreGradientsComeAtOnceThanTheJobMayHaveWorkers) {
  Start();
  constexpr uint64_t kLateRounds = 4 * kMaxWorkersPerNode;
  for (uint64_t round = 1; round <= kLateRounds; ++round) LateRound(4, round);
  for (uint64_t round = 1; round < kLateRounds; ++round) cluster_->PushOnly(2, 0, kKey, {5, 5});
  const std::vector<float> result = cluster_->Result(OthersPush(4, kLateRounds + 1));
  ASSERT_EQ(result.size(), 2u);
  EXPECT_FLOAT_EQ(result[0], (5.0f * (kLateRounds - 1) + 12) / (kLateRounds + 2));
}

TEST_F(QuorumRoundsTest, EncodingsLoseNothingOfIt) {
  Start(AggregationOp::kSum, 1, {{CompressionRule{.codec = CodecId::kSign}}, 1});
  std::vector<float> sum = {0, 0};
  const auto add = [&sum](const std::vector<float>& result) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += result[i];
  };
  for (uint64_t round = 1; round <= 3; ++round) add(LateRound(4, round));
  for (int push = 0; push < 3; ++push) cluster_->Push(2, 0, kKey, {5, 7});
  RequestId flush;
  for (uint32_t node = 1; node <= 4; ++node) flush = cluster_->Flush(node, 0, kKey, {0, 0});
  add(cluster_->Result(flush));
  EXPECT_THAT(sum, ElementsAre(3 * (12 + 5), 3 * (12 + 7)));
}

TEST_F(QuorumRoundsTest, TheRoundIsMadeAgainWhenAMemberDies) {
  Start();
  OthersPush(4, 1);
  cluster_->filter = [](uint32_t, uint32_t to, const Message& message) {
    return to == 3 && std::holds_alternative<ChunkMessage>(message) ? TestCluster::Fate::kDrop
                                                                    : TestCluster::Fate::kDeliver;
  };
  cluster_->Advance(absl::Milliseconds(100));
  cluster_->Kill(4);
  cluster_->filter = nullptr;
  cluster_->ChangeMembers({1, 2, 3}, TestPlan::Chain(3));
  const RequestId late = cluster_->Push(2, 0, kKey, {8, 8});
  ASSERT_TRUE(cluster_->IsDone(late));
  const float first = cluster_->Result(late)[0];
  RequestId next;
  for (const uint32_t node : {1u, 2u, 3u}) next = cluster_->Push(node, 0, kKey, {3, 3});
  EXPECT_FLOAT_EQ(cluster_->Result(next)[0], (9 + 8) / 4.0f) << "after " << first;
}

TEST_F(QuorumRoundsTest, AFlushInPlaceOfALateGradientIsRefused) {
  Start();
  LateRound(4, 1);
  EXPECT_THAT(std::string(cluster_->StatusOf(cluster_->Flush(2, 0, kKey, {0, 0})).message()),
              HasSubstr("the others have pushed a"));
}

TEST_F(QuorumRoundsTest, WhoGoesWithWhatIsOwedIsTold) {
  Start();
  LateRound(4, 1);
  cluster_->Push(2, 0, kKey, {4, 4});
  cluster_->Detach(2, 0, /*clean=*/true);
  EXPECT_THAT(cluster_->logs().back().text, HasSubstr("end with a Flush"));
}

TEST_F(QuorumRoundsTest, NoWorkerSharesItsState) {
  Start();
  const RequestId share(1 << 20);
  cluster_->Step(1, StateCalled{WorkerShareState{share, WorkerId(0), StateShape{{{"state", 4}}}}});
  cluster_->Run();
  ASSERT_TRUE(cluster_->IsDone(share));
  EXPECT_THAT(std::string(cluster_->Completion(share).status.message()), HasSubstr("aggregation.quorum"));
}

}  // namespace
}  // namespace banyan
