#include "tools/chaos/chaos_watch.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;
using ::testing::Optional;
using ::testing::SizeIs;

Timestamp At(double seconds) { return Timestamp::FromNanoseconds(std::llround(seconds * 1e3) * 1000000); }

// Three training processes, 0 on n1, 1 on n2, 2 on n3.
class ChaosWatchTest : public ::testing::Test {
 protected:
  ChaosWatchTest() {
    watch_.SetNode(0, "n1");
    watch_.SetNode(1, "n2");
    watch_.SetNode(2, "n3");
  }

  // A round of these ranks, pushed a tenth of a second before.
  void Round(int64_t round, double seconds, const std::vector<int>& ranks) {
    for (const int rank : ranks) {
      watch_.Add(RoundProgress{.rank = rank, .round = round, .pushed_at = At(seconds - 0.1), .pulled_at = At(seconds)});
    }
  }

  void Kill(const std::string& node, double seconds) {
    watch_.Add(ChaosFault{.kind = ChaosKind::kKillNode, .target = "node " + node, .node = node, .at = At(seconds)});
  }

  ChaosFigures Measure(double end) const { return watch_.Measure({At(0), At(10), At(end), At(end)}); }
  ChaosCost CostOfKills(double end) const {
    const ChaosFigures figures = Measure(end);
    EXPECT_THAT(figures.costs, SizeIs(1));
    return figures.costs.empty() ? ChaosCost() : figures.costs[0];
  }

  ChaosWatch watch_;
};

TEST_F(ChaosWatchTest, TheSlowestSurvivorTells) {
  Round(1, 9.9, {0, 1, 2});
  Kill("n1", 10);
  Round(2, 10.8, {1});
  Round(2, 11.2, {2});
  Round(3, 11.5, {1, 2});
  const ChaosCost cost = CostOfKills(12);
  EXPECT_EQ(cost.faults, 1u);
  EXPECT_EQ(cost.without_result.count, 1u);
  EXPECT_EQ(cost.without_result.median, absl::Milliseconds(1200));
  EXPECT_EQ(cost.stalled, 0u);
}

TEST_F(ChaosWatchTest, AResultThatWasOnItsWayDoesNotHideTheWait) {
  Kill("n1", 10);
  Round(2, 10.01, {1, 2});
  Round(3, 12.01, {1, 2});
  EXPECT_EQ(CostOfKills(20).without_result.longest, absl::Seconds(2));
}

TEST_F(ChaosWatchTest, WhoHasNoResultAnyMoreHasStalled) {
  Round(1, 9.9, {0, 1, 2});
  Kill("n1", 10);
  const ChaosCost cost = CostOfKills(17);
  EXPECT_EQ(cost.without_result.longest, absl::Seconds(7));
  EXPECT_EQ(cost.stalled, 1u);
  EXPECT_EQ(cost.not_back, 1u);
}

TEST_F(ChaosWatchTest, WhoIsDownOrHitMeanwhileIsNoSurvivor) {
  Round(1, 9.9, {0, 1, 2});
  Kill("n1", 10);
  Round(2, 10.5, {1, 2});
  Kill("n2", 10.6);
  // Of the survivors of the second kill n1 is still down; of those of the first n2 has no second result.
  Round(3, 11, {2});
  Round(4, 11.2, {2});
  Round(5, 30, {0, 1, 2});
  const ChaosCost cost = CostOfKills(31);
  EXPECT_EQ(cost.without_result.count, 2u);
  EXPECT_EQ(cost.without_result.median, absl::Milliseconds(400));
  EXPECT_EQ(cost.without_result.longest, absl::Milliseconds(500));
}

TEST_F(ChaosWatchTest, AWorkerIsBackWithItsFirstContribution) {
  Round(1, 9.9, {0, 1, 2});
  Kill("n1", 10);
  Round(2, 11, {1, 2});
  Round(3, 13, {0, 1, 2});
  const ChaosCost cost = CostOfKills(14);
  EXPECT_EQ(cost.back.count, 1u);
  EXPECT_EQ(cost.back.median, absl::Milliseconds(2900));
  EXPECT_EQ(cost.not_back, 0u);
}

TEST_F(ChaosWatchTest, AStoppedNodeIsBackAfterItGoesOn) {
  Round(1, 9.9, {0, 1, 2});
  watch_.Add(ChaosFault{.kind = ChaosKind::kStopNode, .node = "n1", .at = At(10), .lasts = absl::Seconds(6)});
  Round(2, 10.05, {0, 1, 2});
  Round(3, 13, {1, 2});
  Round(4, 17, {0, 1, 2});
  const ChaosFigures figures = Measure(18);
  ASSERT_THAT(figures.costs, SizeIs(1));
  EXPECT_EQ(figures.costs[0].kind, ChaosKind::kStopNode);
  EXPECT_EQ(figures.costs[0].without_result.median, absl::Milliseconds(2950));
  EXPECT_EQ(figures.costs[0].back.median, absl::Milliseconds(900));
}

TEST_F(ChaosWatchTest, TheEndOfTheTrainingIsNoStall) {
  Round(1, 9.9, {0, 1, 2});
  Kill("n1", 10);
  Round(2, 10.5, {1, 2});
  for (const int rank : {1, 2}) watch_.Add(TrainingResult{.rank = rank});
  EXPECT_TRUE(watch_.is_training_over());
  const ChaosCost cost = CostOfKills(17);
  EXPECT_EQ(cost.without_result.longest, absl::Milliseconds(500));
  EXPECT_EQ(cost.stalled, 0u);
}

TEST_F(ChaosWatchTest, MedianAndPercentileOfManyFaults) {
  int64_t round = 1;
  for (int i = 0; i < 100; ++i) {
    const double start = 10 + 100 * i;
    Round(round++, start - 1, {0, 1, 2});
    Kill("n1", start);
    Round(round++, start + 0.01 * (i + 1), {1, 2});
    Round(round++, start + 0.01 * (i + 1) + 0.001, {0, 1, 2});
  }
  const ChaosTimes times = CostOfKills(20000).without_result;
  EXPECT_EQ(times.count, 100u);
  EXPECT_EQ(times.median, absl::Milliseconds(500));
  EXPECT_EQ(times.percentile_99, absl::Milliseconds(990));
  EXPECT_EQ(times.longest, absl::Milliseconds(1000));
}

TEST_F(ChaosWatchTest, RoundsPerHourBesideThoseWithoutFaults) {
  for (int i = 0; i <= 20; ++i) Round(100 + i, 0.5 * i, {0, 1, 2});
  for (int i = 1; i <= 5; ++i) Round(120 + i, 10 + i, {0, 1, 2});
  const ChaosFigures figures = Measure(15);
  EXPECT_THAT(figures.undisturbed_rounds_per_hour, Optional(7200.0));
  EXPECT_THAT(figures.rounds_per_hour, Optional(3600.0));
  EXPECT_THAT(figures.rate_part(), Optional(0.5));
}

TEST_F(ChaosWatchTest, WithoutRoundsNothingIsMeasured) {
  Kill("n1", 10);
  EXPECT_FALSE(watch_.has_rounds());
  const ChaosFigures figures = Measure(20);
  EXPECT_THAT(figures.rate_part(), Eq(std::nullopt));
  EXPECT_EQ(figures.costs[0].without_result.count, 0u);
}

TEST_F(ChaosWatchTest, ParticipationIsOfThoseThatCanTakePart) {
  Round(1, 9.5, {0, 1, 2});
  Kill("n1", 10);  // comes back with round 4
  watch_.Add(ChaosFault{
      .kind = ChaosKind::kPartition, .target = "n3", .sites = {"n3"}, .at = At(11.5), .lasts = absl::Seconds(1)});
  Round(2, 11, {1, 2});
  Round(3, 12, {1});
  Round(4, 13, {0, 1, 2});
  const ChaosFigures figures = Measure(14);
  // Of n1 one in three, of n2 three, of n3 two in two: in the third round it is cut off.
  EXPECT_THAT(figures.participation, Optional(DoubleEq(6.0 / 8)));
  EXPECT_THAT(figures.least_participation, Optional(DoubleEq(1.0 / 3)));
  EXPECT_EQ(figures.least_node, "n1");
  // Three results in ten seconds before, six in four.
  EXPECT_THAT(figures.goodput, Optional(DoubleEq(5)));
}

TEST_F(ChaosWatchTest, ReplicasAreComparedOnceAllHaveTold) {
  Round(1, 11, {0, 1, 2});
  for (const int rank : {0, 1}) watch_.Add(TrainingResult{.rank = rank, .rounds = 1, .hash = "a"});
  EXPECT_EQ(Measure(14).replicas_are_equal, std::nullopt);
  ChaosWatch other = watch_;
  watch_.Add(TrainingResult{.rank = 2, .rounds = 1, .hash = "a"});
  EXPECT_THAT(Measure(14).replicas_are_equal, Optional(true));
  other.Add(TrainingResult{.rank = 2, .rounds = 1, .hash = "b"});
  EXPECT_THAT(other.Measure({At(0), At(10), At(14), At(14)}).replicas_are_equal, Optional(false));
}

}  // namespace
}  // namespace banyan
