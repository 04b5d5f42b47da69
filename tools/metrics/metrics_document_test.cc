// Holds the tables of docs/reference/metrics.md against the metrics. A failure prints what the tables should say.
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "tools/metrics/node_metrics.h"
#include "tools/metrics/scheduler_metrics.h"

namespace banyan {
namespace {

std::string Row(const MetricFamily& family) {
  const std::string labels = absl::StrJoin(family.samples.at(0).labels, ", ", [](std::string* out, const auto& label) {
    absl::StrAppend(out, "`", label.first, "`");
  });
  return absl::StrCat("| `", family.name, "` | ", labels, labels.empty() ? "| " : " | ",
                      absl::StripSuffix(family.help, "."), " |");
}

NodeSnapshot SampleSnapshot() {
  for (const WireSample& sample : WireSamples()) {
    if (const auto* report = std::get_if<NodeReport>(&sample.message); report != nullptr) return {*report, {}, {}};
  }
  ADD_FAILURE() << "no sample of a report";
  return {};
}

TEST(MetricsDocumentTest, HasARowOfEachMetric) {
  std::vector<std::string> rows;
  for (const MetricFamily& family : MakeSchedulerMetrics(SampleStatus())) rows.push_back(Row(family));
  rows.push_back(Row(MakeRoundTimesMetric("scheduler", Histogram())));
  rows.push_back(Row(MakeBuildInfoMetric()));
  rows.push_back(Row(MakeInsecureMetric(false)));
  for (const MetricFamily& family : MakeNodeMetrics(SampleSnapshot())) rows.push_back(Row(family));
  std::vector<std::string> documented;
  std::ifstream file("docs/reference/metrics.md");
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, "| `banyan_")) documented.push_back(line);
  }
  EXPECT_EQ(documented, rows) << "docs/reference/metrics.md should say\n" << absl::StrJoin(rows, "\n");
}

}  // namespace
}  // namespace banyan
