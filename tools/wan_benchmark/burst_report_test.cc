#include "tools/wan_benchmark/burst_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

WanReport Report() {
  ContenderResult good;
  good.contender.name = "trimmed";
  good.contender.description = "trim_rht, queues cut";
  for (const double seconds : {2.0, 1.0, 3.0}) good.quiet_rounds.push_back({.seconds = seconds});
  for (int i = 0; i < 101; ++i) good.rounds.push_back({.seconds = 1 + i * 0.02});
  good.loaded = {{"a", "b", 5}, {"b", "c", 4}};
  ContenderResult bad;
  bad.contender.name = "whole";
  bad.contender.description = "trim_rht, nothing is cut";
  bad.status = absl::DataLossError("expected identical replicas");
  WanReport report;
  report.overlay = "x.yaml";
  report.model_bits = 46e6 * 8;
  report.results = {good, bad};
  return report;
}

TEST(BurstReportTest, SaysTimesOverTheUndisturbedMedian) {
  const std::string text = BurstReportText(Report());
  EXPECT_THAT(text, HasSubstr("all-reduce of 46.0 MB"));
  EXPECT_THAT(text, HasSubstr("  2.00    2.00 (1.00)    2.98 (1.49)     101  a-b, b-c\n"));
  EXPECT_THAT(text, HasSubstr("trim_rht, nothing is cut  failed: expected identical replicas\n"));
}

TEST(BurstReportTest, JsonHasTheSame) {
  const std::string json = BurstReportJson(Report());
  EXPECT_THAT(json,
              HasSubstr("\"quiet_seconds_p50\":2,\"seconds_p50\":2,\"seconds_p99\":2.98,\"p99_over_quiet\":1.49"));
  EXPECT_THAT(json, HasSubstr("\"failure\":\"expected identical replicas\""));
}

}  // namespace
}  // namespace banyan
