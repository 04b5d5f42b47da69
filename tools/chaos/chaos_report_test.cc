#include "tools/chaos/chaos_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ChaosOutcome Good() {
  ChaosOutcome outcome;
  outcome.time = absl::Seconds(60);
  outcome.faults = {
      {.kind = ChaosKind::kKillNode, .target = "node n3", .node = "n3", .at = Timestamp::FromNanoseconds(7)},
      {.kind = ChaosKind::kCutLink, .target = "n1 > n2", .lasts = absl::Seconds(10)}};
  ChaosCost kills;
  kills.faults = 1;
  kills.without_result = {1, absl::Milliseconds(900), absl::Milliseconds(2500), absl::Milliseconds(2600)};
  kills.back = {1, absl::Seconds(2), absl::Seconds(4), absl::Seconds(4.5)};
  ChaosCost cuts;
  cuts.kind = ChaosKind::kCutLink;
  cuts.faults = 1;
  outcome.figures.costs = {kills, cuts};
  outcome.figures.undisturbed_rounds_per_hour = 7200;
  outcome.figures.rounds_per_hour = 6480;
  return outcome;
}

TEST(ChaosReportTest, TellsWhatTheFaultsHaveCost) {
  EXPECT_EQ(FormatOutcome(Good()),
            "2 faults in 60 s; the time is over\n"
            "1 node killed\n"
            "  survivors without a result: 0.90 s in the median, 2.50 s in 99 of 100, 2.60 s at most\n"
            "  contributing again after: 2.00 s in the median, 4.00 s in 99 of 100, 4.50 s at most\n"
            "1 link cut\n"
            "rounds per hour: 6480, 0.90 of the 7200 without faults\n");
}

TEST(ChaosReportTest, TellsOfThoseThatDidNotComeBack) {
  ChaosOutcome outcome = Good();
  outcome.end = ChaosEnd::kJobIsGone;
  outcome.figures.costs[0].stalled = 1;
  outcome.figures.costs[0].not_back = 2;
  outcome.figures.undisturbed_rounds_per_hour.reset();
  EXPECT_THAT(
      FormatOutcome(outcome),
      AllOf(HasSubstr("the job has ended before its training\n"), HasSubstr("no result any more after 1 of them"),
            HasSubstr("not contributing again: 2\n"), HasSubstr("rounds per hour: 6480\n")));
}

TEST(ChaosReportTest, TheSameAsJson) {
  EXPECT_THAT(FormatOutcomeJson(Good()),
              AllOf(HasSubstr(R"({"kind":"kill_node","target":"node n3","steady_ns":7,"lasts_seconds":0})"),
                    HasSubstr(R"("kind":"cut_link","target":"n1 > n2")"), HasSubstr(R"("median_seconds":0.9,)"),
                    HasSubstr(R"("rounds_per_hour":6480,"rate_part":0.9,)"), Not(HasSubstr("\n"))));
  EXPECT_THAT(FormatOutcomeJson(ChaosOutcome()), HasSubstr(R"("replicas_are_equal":null})"));
}

TEST(ChaosReportTest, SurvivalIsCheckedAgainstWhatIsPromised) {
  EXPECT_TRUE(CheckSurvival(Good().figures).ok());
  ChaosFigures figures = Good().figures;
  figures.costs[0].without_result.median = absl::Milliseconds(1600);
  figures.costs[0].back.percentile_99 = absl::Seconds(6);
  figures.rounds_per_hour = 6000;
  const absl::Status status = CheckSurvival(figures);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("next result in the median within 1.50 s, measured 1.60 s"),
                    HasSubstr("contribute again in 99 of 100 within 5.00 s, measured 6.00 s"),
                    HasSubstr("at least 0.88 of the rounds per hour, measured 0.83")));
  figures = Good().figures;
  figures.costs[0].stalled = 1;
  EXPECT_EQ(CheckSurvival(figures).code(), absl::StatusCode::kDeadlineExceeded);
  figures = Good().figures;
  figures.costs[0].not_back = 1;
  EXPECT_EQ(CheckSurvival(figures).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChaosReportTest, WhatWasNotMeasuredIsNotKept) {
  EXPECT_EQ(CheckSurvival(ChaosFigures()).code(), absl::StatusCode::kFailedPrecondition);
  ChaosFigures figures = Good().figures;
  figures.undisturbed_rounds_per_hour.reset();
  EXPECT_EQ(CheckSurvival(figures).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace banyan
