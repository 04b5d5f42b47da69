#include "examples/fashion_mnist/accuracy/accuracy_table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

AccuracyResult Result(double accuracy, double seconds, std::optional<double> seconds_to_target) {
  AccuracyResult result;
  result.accuracy = accuracy;
  result.course = {{seconds, accuracy}};
  result.sent_bytes = 5e6;
  result.seconds = seconds;
  result.seconds_to_target = seconds_to_target;
  result.samples_per_second = 1000 / seconds;
  result.volume = 0.25;
  result.replicas_identical = true;
  return result;
}

std::vector<AccuracyRow> Rows() {
  return {{.name = "none", .mbps = 200, .is_plain = true, .results = {Result(0.875, 100, 40), Result(0.885, 100, 60)}},
          {.name = "{codec: topk}", .mbps = 200, .results = {Result(0.87, 20, 8), Result(0.86, 20, std::nullopt)}},
          {.name = "{codec: topk}", .mbps = 500, .results = {Result(0.87, 20, 8)}}};
}

TEST(AccuracyTableTest, SummariesAreMeansAndExtremes) {
  const std::vector<AccuracyRow> rows = Rows();
  const AccuracySummary summary = Summarize(rows[0]);
  EXPECT_DOUBLE_EQ(summary.mean.accuracy, 0.88);
  EXPECT_DOUBLE_EQ(summary.least_accuracy, 0.875);
  EXPECT_DOUBLE_EQ(summary.greatest_accuracy, 0.885);
  EXPECT_DOUBLE_EQ(summary.mean.seconds_to_target.value(), 50);
  EXPECT_TRUE(summary.mean.replicas_identical);
  EXPECT_EQ(Summarize(rows[1]).mean.seconds_to_target, std::nullopt);
}

TEST(AccuracyTableTest, SpeedUpIsOverThePlainRowOfTheSameRate) {
  const std::vector<AccuracyRow> rows = Rows();
  EXPECT_DOUBLE_EQ(SpeedUp(rows, rows[1]).value(), 5);
  EXPECT_EQ(SpeedUp(rows, rows[2]), std::nullopt);
}

TEST(AccuracyTableTest, ReplicasThatDifferAreNamed) {
  std::vector<AccuracyRow> rows = Rows();
  EXPECT_TRUE(CheckReplicas(rows).ok());
  rows[0].results[1].replicas_identical = false;
  rows[2].results[0].replicas_identical = false;
  const absl::Status status = CheckReplicas(rows);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              EndsWith("differ at 200 Mbit/s, none, seed 2; 500 Mbit/s, {codec: topk}, seed 1"));
}

TEST(AccuracyTableTest, TextIsATable) {
  const std::string text = AccuracyText(Rows(), 85);
  EXPECT_THAT(text, HasSubstr("| s to 85 % |"));
  EXPECT_THAT(text, HasSubstr("|    200 | none          | 88.00 (87.50 to 88.50)  |       5 | 0.2500 |         100 |   "
                              "     50 |       10 |     1.00 |\n"));
  EXPECT_THAT(text, HasSubstr("|    200 | {codec: topk} | 86.50 (86.00 to 87.00)  |       5 | 0.2500 |          20 |   "
                              "      - |       50 |     5.00 |\n"));
  EXPECT_THAT(text, Not(HasSubstr("while links stand for")));
}

TEST(AccuracyTableTest, PacesAreShownWhereLinksChange) {
  std::vector<AccuracyRow> rows = Rows();
  for (AccuracyRow& row : rows) {
    for (AccuracyResult& result : row.results) result.pace_at_mbps = {{200, 7}, {2000, 70}};
  }
  EXPECT_THAT(AccuracyText(rows, 85), HasSubstr(" 2000 | 200 |\n|--------------------------------|-----:|----:|\n"
                                                "| none                           |   70 |   7 |\n"));
}

TEST(AccuracyTableTest, JsonHasEverySeed) {
  const std::string text = AccuracyJson(Rows(), 85);
  EXPECT_THAT(text, HasSubstr(R"("accuracies":[0.87,0.86])"));
  EXPECT_THAT(text, HasSubstr(R"("speed_up":null)"));
}

}  // namespace
}  // namespace banyan
