#include "scheduler/rounds/job_rounds.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr KeyId kKey(1);

// Two slices of each key, of which the first is always low-bit.
class TwoSlices : public RouteSource {
 public:
  KeyRoutes RouteOf(KeyId /*key*/) const override {
    KeyRoutes routes = PrecisionRoute::kLowBit;
    routes.Set(1, second);
    return routes;
  }
  std::vector<int64_t> BordersOf(const std::string& /*name*/, const TensorShape& /*shape*/) const override {
    return {4};
  }

  PrecisionRoute second = PrecisionRoute::kLowBit;
};

class JobRoundsTest : public ::testing::Test {
 protected:
  JobRoundsTest() : keys_(65536), job_rounds_(&keys_, {"n1", "n2"}, absl::ZeroDuration(), 1) {
    EXPECT_TRUE(keys_.Register({"w", 10}).ok());
    job_rounds_.UsePolicy(PolicyVersion(4), 2);
  }

  RoundOutcome Ask(int node, uint64_t round) {
    return job_rounds_.Request(Timestamp(), NodeId(static_cast<uint32_t>(node)), PolicyRequest{{{kKey, Round(round)}}});
  }
  RoundOutcome Close(int node, uint64_t round, uint64_t hash = 1) {
    return job_rounds_.Report(Timestamp(), NodeId(static_cast<uint32_t>(node)),
                              RoundsClosed{{{kKey, Round(round), hash}}});
  }

  KeyTable keys_;
  JobRounds job_rounds_;
};

TEST_F(JobRoundsTest, BindsOnceAndAnswersAlike) {
  const RoundOutcome first = Ask(2, 1);
  const RoundOutcome second = Ask(1, 1);
  EXPECT_THAT(first.new_bindings, SizeIs(1));
  EXPECT_THAT(second.new_bindings, IsEmpty());
  ASSERT_THAT(first.answers, SizeIs(1));
  ASSERT_THAT(second.answers, SizeIs(1));
  EXPECT_EQ(first.answers[0].bindings, second.answers[0].bindings);
  EXPECT_EQ(second.answers[0].node, NodeId(1));
}

TEST_F(JobRoundsTest, NewPolicyGovernsRoundsThatAreNotBoundYet) {
  Ask(1, 1);
  job_rounds_.UsePolicy(PolicyVersion(5), 2);
  EXPECT_EQ(Ask(2, 1).answers[0].bindings[0].policy, PolicyVersion(4));
  EXPECT_EQ(Ask(2, 2).answers[0].bindings[0].policy, PolicyVersion(5));
}

TEST_F(JobRoundsTest, RoundsThatAreLowBitThroughoutHaveLargerChunks) {
  TwoSlices slices;
  keys_.UseRoutes(&slices);
  ASSERT_TRUE(keys_.Register({"sliced", 100'000}).ok());
  job_rounds_.UseRoutes(&slices);
  job_rounds_.UsePolicy(PolicyVersion(5), 2, 1000);
  const auto chunk_of = [this](uint64_t round) {
    const RoundOutcome asked = job_rounds_.Request(Timestamp(), NodeId(1), PolicyRequest{{{KeyId(2), Round(round)}}});
    EXPECT_EQ(asked.new_bindings[0].chunk_max_elements, asked.answers[0].bindings[0].chunk_max_elements);
    return asked.new_bindings[0].chunk_max_elements;
  };
  EXPECT_EQ(LowBitChunk(100'000, 1000), 4000);
  EXPECT_EQ(LowBitChunk(10'000, 1000), 1250) << "eight chunks";
  EXPECT_EQ(LowBitChunk(7'000, 1000), 1000) << "no more than floats would have";
  EXPECT_EQ(chunk_of(0), 0) << "no sum";
  EXPECT_EQ(chunk_of(1), LowBitChunk(100'000, 1000));
  slices.second = PrecisionRoute::kFallback;
  job_rounds_.AdoptRoutes();
  EXPECT_EQ(chunk_of(2), 0) << "floats among them";
}

TEST_F(JobRoundsTest, ACutToLowBitRoundsHasTheirChunks) {
  TwoSlices slices;
  slices.second = PrecisionRoute::kPlain;
  keys_.UseRoutes(&slices);
  ASSERT_TRUE(keys_.Register({"sliced", 100'000}).ok());
  job_rounds_.UseRoutes(&slices);
  const KeyId sliced(2);
  job_rounds_.Request(Timestamp(), NodeId(1), PolicyRequest{{{sliced, Round(1)}}});
  slices.second = PrecisionRoute::kLowBit;
  job_rounds_.UsePolicy(PolicyVersion(5), 2, 1000);
  job_rounds_.AdoptRoutes();
  EXPECT_TRUE(job_rounds_.IsWorthCutting());
  job_rounds_.BeginCut();
  const CutRecord cut = job_rounds_.PlanCut({{sliced, Round(1)}});
  EXPECT_THAT(cut.rounds,
              ElementsAre(CutRecord::Entry{sliced, Round(1), slices.RouteOf(sliced), LowBitChunk(100'000, 1000)}));
  const std::vector<PolicyAnswer::Binding> told = job_rounds_.FinishCut(cut);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].chunk_max_elements, LowBitChunk(100'000, 1000));
}

TEST_F(JobRoundsTest, ClosedRoundIsForgottenAndNotAnswered) {
  Ask(1, 0);
  EXPECT_THAT(Close(1, 0).closed, IsEmpty());
  EXPECT_THAT(Close(2, 0).closed, ElementsAre(ClosedEverywhere::Entry{kKey, Round(0)}));
  EXPECT_FALSE(job_rounds_.ledger().Find(kKey, Round(0)).has_value());
  const RoundOutcome late = Ask(1, 0);
  EXPECT_THAT(late.answers, IsEmpty());
  EXPECT_THAT(late.rejections, IsEmpty());
  EXPECT_THAT(Close(2, 0).closed_before, SizeIs(1));
}

TEST_F(JobRoundsTest, RejectsWhatCannotBe) {
  EXPECT_THAT(Close(1, 1).rejections, SizeIs(1));
  EXPECT_THAT(job_rounds_.Request(Timestamp(), NodeId(1), PolicyRequest{{{KeyId(2), Round(1)}}}).rejections, SizeIs(1));
  EXPECT_THAT(Ask(1, ~uint64_t{0}).rejections, SizeIs(1));
  EXPECT_EQ(job_rounds_.bindings(), 0u);
  EXPECT_EQ(job_rounds_.parked(), 0u);
}

TEST_F(JobRoundsTest, ParksBeyondTheWindowAndAnswersWhenItMoves) {
  Ask(1, 0);
  const RoundOutcome parked = Ask(2, kMinOpenWindowRounds);
  EXPECT_THAT(parked.answers, IsEmpty());
  EXPECT_THAT(parked.rejections, IsEmpty());
  Ask(2, kMinOpenWindowRounds);
  Ask(1, kMinOpenWindowRounds);
  EXPECT_EQ(job_rounds_.parked(), 2u);
  EXPECT_THAT(Ask(2, 2 * kMinOpenWindowRounds).rejections, SizeIs(1));
  Close(1, 0);
  const RoundOutcome moved = Close(2, 0);
  EXPECT_THAT(moved.new_bindings, SizeIs(1));
  ASSERT_THAT(moved.answers, SizeIs(2));
  EXPECT_EQ(moved.answers[0].node, NodeId(1));
  EXPECT_EQ(moved.answers[1].node, NodeId(2));
  EXPECT_EQ(job_rounds_.parked(), 0u);
}

TEST_F(JobRoundsTest, ParkedRequestsAreBounded) {
  uint32_t node = 0;
  while (job_rounds_.parked() < kMaxParkedRequests) {
    ++node;
    PolicyRequest request;
    for (uint64_t i = 0; i < kMinOpenWindowRounds; ++i) {
      request.entries.push_back({kKey, Round(kMinOpenWindowRounds + i)});
    }
    ASSERT_THAT(job_rounds_.Request(Timestamp(), NodeId(node), request).rejections, IsEmpty());
  }
  const PolicyRequest one_more = {{{kKey, Round(kMinOpenWindowRounds)}}};
  EXPECT_THAT(job_rounds_.Request(Timestamp(), NodeId(node + 1), one_more).answers, IsEmpty());
  EXPECT_EQ(job_rounds_.parked(), kMaxParkedRequests);
  // It asks anew when there is room.
  std::set<NodeId> forgotten;
  for (uint64_t round = 0; forgotten.empty(); ++round) {
    ASSERT_LT(round, kMinOpenWindowRounds);
    Ask(1, round);
    Close(1, round);
    forgotten = Close(2, round).forgotten;
    EXPECT_EQ(forgotten.empty(), job_rounds_.parked() > kMaxParkedRequests / 2);
  }
  EXPECT_THAT(forgotten, ElementsAre(NodeId(node + 1)));
}

TEST_F(JobRoundsTest, WhatFindsNoRoomWhileItIsFrozenIsAskedForUnderThePlan) {
  job_rounds_.Freeze();
  for (uint32_t node = 1; job_rounds_.parked() < kMaxParkedRequests; ++node) {
    for (uint64_t round = 0; round < kMinOpenWindowRounds; ++round) Ask(node, round);
  }
  const RoundOutcome outcome = Ask(1'000'000, 0);
  EXPECT_THAT(outcome.rejections, IsEmpty());
  EXPECT_THAT(outcome.forgotten, IsEmpty());
}

TEST_F(JobRoundsTest, FailuresNameKeyRoundAndNodes) {
  Ask(1, 1);
  Close(1, 1, 10);
  const absl::Status differs = Close(2, 1, 11).failure;
  EXPECT_EQ(differs.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(differs.message()), HasSubstr("round 1 of key 'w': the result of n1"));
}

TEST_F(JobRoundsTest, WhoDiffersFromMostIsAnOutlier) {
  job_rounds_.UsePolicy(PolicyVersion(4), 3);
  Ask(1, 1);
  EXPECT_THAT(Close(1, 1, 11).outliers, IsEmpty());
  const RoundOutcome second = Close(2, 1, 10);
  EXPECT_TRUE(second.failure.ok()) << "one of them is right";
  EXPECT_THAT(second.outliers, IsEmpty());
  const RoundOutcome third = Close(3, 1, 10);
  EXPECT_TRUE(third.failure.ok());
  ASSERT_THAT(third.outliers, SizeIs(1));
  EXPECT_EQ(third.outliers[0].first, NodeId(1));
  EXPECT_EQ(
      third.outliers[0].second,
      "round 1 of key 'w': the result of n1 has hash 000000000000000b and that of n2 000000000000000a; replicas are "
      "not identical; most members agree with n2");
}

TEST_F(JobRoundsTest, WhoHasNotReadAResultAgreesWithAll) {
  Ask(1, 1);
  EXPECT_EQ(Close(1, 1, 0).failure, absl::OkStatus());
  const RoundOutcome closed = Close(2, 1, 11);
  EXPECT_EQ(closed.failure, absl::OkStatus());
  EXPECT_THAT(closed.closed, SizeIs(1));
}

TEST_F(JobRoundsTest, BindsNothingNewAfterADeparture) {
  Ask(1, 1);
  job_rounds_.SetDeparted();
  EXPECT_THAT(Ask(1, 1).answers, SizeIs(1));
  const RoundOutcome ahead = Ask(1, 2);
  EXPECT_EQ(job_rounds_.parked(), 1u) << "for the next epoch";
  EXPECT_THAT(ahead.answers, IsEmpty());
  EXPECT_THAT(ahead.rejections, IsEmpty());
  EXPECT_TRUE(ahead.failure.ok());
  EXPECT_TRUE(job_rounds_.ledger().Find(kKey, Round(1)).has_value());
  EXPECT_FALSE(job_rounds_.ledger().Find(kKey, Round(2)).has_value());
}

TEST_F(JobRoundsTest, WhileItIsFrozenRequestsWaitAndReportsAreOfThePast) {
  Ask(1, 1);
  Close(1, 1);
  job_rounds_.Freeze();
  EXPECT_THAT(Ask(1, 1).answers, IsEmpty());
  EXPECT_THAT(Ask(2, 2).answers, IsEmpty());
  EXPECT_THAT(Close(2, 1).closed, IsEmpty());
  EXPECT_EQ(job_rounds_.parked(), 2u);
  const EpochPlanRecord plan = {
      Epoch(2), PolicyVersion(5), {{kKey, kKey, Round(1)}}, {{kKey, kKey, Round(1), Round(1), Attempt(1), 100}}};
  const RoundOutcome after = job_rounds_.Rebind(Timestamp(), plan, {NodeId(1)});
  ASSERT_THAT(after.answers, SizeIs(1)) << "node 2 is no member any more";
  EXPECT_THAT(after.answers[0].bindings,
              ElementsAre(PolicyAnswer::Binding{kKey, Round(1), Round(1), PolicyVersion(5), Attempt(1), 100}));
  EXPECT_EQ(job_rounds_.parked(), 0u);
  EXPECT_THAT(Close(1, 1).closed, SizeIs(1)) << "one member is enough now";
}

TEST_F(JobRoundsTest, APlanClosesWhatSurvivorsHoldAndStartsTalliesAnew) {
  for (const uint64_t round : {0, 1, 2}) Ask(1, round);
  Close(1, 2, 9);
  job_rounds_.Freeze();
  const EpochPlanRecord plan = {
      Epoch(2), PolicyVersion(5), {{kKey, kKey, Round(2)}}, {{kKey, kKey, Round(2), Round(2), Attempt(1), 100}}};
  job_rounds_.Rebind(Timestamp(), plan, {NodeId(1), NodeId(2)});
  EXPECT_EQ(job_rounds_.FirstOpen(kKey), Round(2));
  EXPECT_EQ(job_rounds_.OldestPolicy(), PolicyVersion(5));
  EXPECT_TRUE(Close(2, 2, 8).failure.ok()) << "what was reported before counts no more";
  EXPECT_TRUE(job_rounds_.HasReported(NodeId(2), kKey, Round(2)));
  EXPECT_FALSE(job_rounds_.HasReported(NodeId(1), kKey, Round(2)));
}

TEST_F(JobRoundsTest, SaysWhichRoundsAreOpenAndWhichAreClosedBeyond) {
  EXPECT_FALSE(job_rounds_.HasBegun());
  for (const uint64_t round : {0, 1, 2, 3}) Ask(1, round);
  EXPECT_TRUE(job_rounds_.HasBegun());
  for (const int node : {1, 2}) Close(node, 2);
  EXPECT_THAT(job_rounds_.ClosedBeyond(), ElementsAre(ClosedEverywhere::Entry{kKey, Round(2)}));
  EXPECT_EQ(job_rounds_.AfterLast(kKey), Round(4));
  std::vector<uint64_t> open;
  for (const BoundRounds& run : job_rounds_.OpenFrom(kKey, Round(1))) open.push_back(run.first_round.value());
  EXPECT_THAT(open, ElementsAre(1, 3));
}

TEST_F(JobRoundsTest, RestoresBindingsAndClosedRounds) {
  RoundLedger ledger;
  EXPECT_TRUE(ledger.Bind({kKey, Round(0), Round(0), PolicyVersion(4), Attempt(0)}));
  EXPECT_TRUE(ledger.Bind({kKey, Round(1), Round(3), PolicyVersion(4), Attempt(0)}));
  EXPECT_TRUE(ledger.RestoreClosed(kKey, ClosedRounds{Round(1), {}}));
  job_rounds_.Restore(std::move(ledger));
  EXPECT_EQ(job_rounds_.FirstOpen(kKey), Round(1));
  EXPECT_EQ(Ask(1, 2).answers[0].bindings[0].last_round, Round(3));
}

TEST_F(JobRoundsTest, RoundsThatCloseOutOfOrderOpenNoneBefore) {
  for (const uint64_t round : {0, 1}) Ask(1, round);
  for (const int node : {1, 1, 2}) Close(node, 1);
  EXPECT_EQ(job_rounds_.FirstOpen(kKey), Round(0));
  EXPECT_EQ(job_rounds_.AfterClosed(kKey), Round(2));
  EXPECT_EQ(job_rounds_.open_tallies(), 0u);
  Close(1, 0);
  EXPECT_THAT(Close(1, 0).closed, IsEmpty()) << "said again";
  EXPECT_THAT(Close(2, 0).closed, SizeIs(1));
  EXPECT_EQ(job_rounds_.FirstOpen(kKey), Round(2));
  EXPECT_EQ(job_rounds_.FirstOpen(KeyId(2)), Round(0));
}

TEST(JobRoundsLeaseTest, ALeaseEndsBeforeTheNextOneAndRound0HasOneOfItsOwn) {
  KeyTable keys(65536);
  ASSERT_TRUE(keys.Register({"w", 10}).ok());
  JobRounds job_rounds(&keys, {"n1"}, absl::Minutes(1), 1);
  job_rounds.UsePolicy(PolicyVersion(4), 1);
  const auto lease_of = [&](uint64_t round) {
    const BoundRounds bound = job_rounds.Request(Timestamp(), NodeId(1), {{{kKey, Round(round)}}}).new_bindings.at(0);
    return std::pair(bound.first_round.value(), bound.last_round.value());
  };
  EXPECT_EQ(lease_of(0), std::pair(0ul, 0ul));
  EXPECT_EQ(lease_of(5), std::pair(5ul, 4 + LeasePacer::kFirstLease));
  EXPECT_EQ(lease_of(2), std::pair(2ul, 4ul));
}

}  // namespace
}  // namespace banyan
