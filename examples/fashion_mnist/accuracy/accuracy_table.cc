#include "examples/fashion_mnist/accuracy/accuracy_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bench/result_table.h"
#include "core/json_writer.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

constexpr double kMegabyte = 1e6;

// A row for each of `rows`: how fast it was while links had each rate. No rows where rates did not change.
ResultTable PaceTable(absl::Span<const AccuracyRow> rows) {
  ResultTable table;
  table.columns = {{"images/s while links stand for"}};
  if (rows.empty()) return table;
  const std::map<double, double> rates = Summarize(rows[0]).mean.pace_at_mbps;
  if (rates.empty()) return table;
  for (auto rate = rates.rbegin(); rate != rates.rend(); ++rate) {
    table.columns.push_back({absl::StrFormat("%.0f", rate->first)});
  }
  for (const AccuracyRow& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = {Cell::Text(row.name)};
    const std::map<double, double> paces = Summarize(row).mean.pace_at_mbps;
    for (auto pace = paces.rbegin(); pace != paces.rend(); ++pace) cells.push_back(Cell::Number(pace->second, 0));
    cells.resize(table.columns.size());
  }
  return table;
}

void WriteRow(absl::Span<const AccuracyRow> rows, const AccuracyRow& row, JsonWriter& json) {
  const AccuracySummary summary = Summarize(row);
  const AccuracyResult& mean = summary.mean;
  json.BeginObject().Name("compression").String(row.name).Name("mbps").Number(row.mbps);
  json.Name("accuracy").Number(mean.accuracy);
  json.Name("accuracies").BeginArray();
  for (const AccuracyResult& result : row.results) json.Number(result.accuracy);
  json.EndArray();
  json.Name("courses").BeginArray();
  for (const AccuracyResult& result : row.results) {
    json.BeginArray();
    for (const auto& [seconds, accuracy] : result.course) {
      json.BeginObject().Name("seconds").Number(seconds).Name("accuracy").Number(accuracy).EndObject();
    }
    json.EndArray();
  }
  json.EndArray();
  json.Name("sent_bytes").Number(mean.sent_bytes).Name("volume").Number(mean.volume);
  json.Name("seconds").Number(mean.seconds).Name("seconds_to_target");
  mean.seconds_to_target.has_value() ? json.Number(*mean.seconds_to_target) : json.Null();
  json.Name("samples_per_second").Number(mean.samples_per_second).Name("speed_up");
  const std::optional<double> speed_up = SpeedUp(rows, row);
  speed_up.has_value() ? json.Number(*speed_up) : json.Null();
  json.Name("replicas_identical").Boolean(mean.replicas_identical);
  json.Name("pace").BeginArray();
  for (const auto& [mbps, pace] : mean.pace_at_mbps) {
    json.BeginObject().Name("mbps").Number(mbps).Name("samples_per_second").Number(pace).EndObject();
  }
  json.EndArray().EndObject();
}

// "84.86 (84.53 to 85.17)" in percent; of one seed there is no range.
std::string Accuracies(const AccuracyRow& row, const AccuracySummary& summary) {
  const std::string mean = absl::StrFormat("%.2f", 100 * summary.mean.accuracy);
  if (row.results.size() < 2) return mean;
  return absl::StrFormat("%s (%.2f to %.2f)", mean, 100 * summary.least_accuracy, 100 * summary.greatest_accuracy);
}

}  // namespace

AccuracySummary Summarize(const AccuracyRow& row) {
  AccuracySummary summary;
  AccuracyResult& mean = summary.mean;
  mean.volume = 0;
  mean.replicas_identical = true;
  mean.seconds_to_target = 0;
  summary.least_accuracy = summary.greatest_accuracy = row.results.front().accuracy;
  std::map<double, size_t> seen;
  const double part = 1.0 / static_cast<double>(row.results.size());
  for (const AccuracyResult& result : row.results) {
    summary.least_accuracy = std::min(summary.least_accuracy, result.accuracy);
    summary.greatest_accuracy = std::max(summary.greatest_accuracy, result.accuracy);
    mean.accuracy += part * result.accuracy;
    mean.sent_bytes += part * result.sent_bytes;
    mean.seconds += part * result.seconds;
    mean.samples_per_second += part * result.samples_per_second;
    mean.volume += part * result.volume;
    mean.replicas_identical = mean.replicas_identical && result.replicas_identical;
    if (!result.seconds_to_target.has_value()) mean.seconds_to_target.reset();
    if (mean.seconds_to_target.has_value()) *mean.seconds_to_target += part * *result.seconds_to_target;
    for (const auto& [mbps, pace] : result.pace_at_mbps) {
      mean.pace_at_mbps[mbps] += pace;
      ++seen[mbps];
    }
  }
  for (auto& [mbps, pace] : mean.pace_at_mbps) pace /= static_cast<double>(seen[mbps]);
  return summary;
}

std::optional<double> SpeedUp(absl::Span<const AccuracyRow> rows, const AccuracyRow& row) {
  for (const AccuracyRow& other : rows) {
    if (!other.is_plain || other.mbps != row.mbps) continue;
    return Summarize(row).mean.samples_per_second / Summarize(other).mean.samples_per_second;
  }
  return std::nullopt;
}

absl::Status CheckReplicas(absl::Span<const AccuracyRow> rows) {
  std::vector<std::string> trainings;
  for (const AccuracyRow& row : rows) {
    for (size_t i = 0; i < row.results.size(); ++i) {
      if (row.results[i].replicas_identical) continue;
      trainings.push_back(absl::StrFormat("%g Mbit/s, %s, seed %d", row.mbps, row.name, i + 1));
    }
  }
  if (trainings.empty()) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("expected identical replicas, and they differ at ", absl::StrJoin(trainings, "; ")));
}

std::string AccuracyText(absl::Span<const AccuracyRow> rows, double target) {
  ResultTable table;
  table.columns = {{"Mbit/s"},
                   {"compression"},
                   {"test accuracy % (seeds)"},
                   {"MB sent"},
                   {"volume"},
                   {"simulated s"},
                   {absl::StrFormat("s to %g %%", target)},
                   {"images/s"},
                   {"speed-up"}};
  for (const AccuracyRow& row : rows) {
    const AccuracySummary summary = Summarize(row);
    const AccuracyResult& mean = summary.mean;
    table.rows.push_back({Cell::Number(row.mbps), Cell::Text(row.name), Cell::Text(Accuracies(row, summary)),
                          Cell::Number(mean.sent_bytes / kMegabyte, 0), Cell::Number(mean.volume, 4),
                          Cell::Number(mean.seconds, 0), Cell::Number(mean.seconds_to_target, 0),
                          Cell::Number(mean.samples_per_second, 0), Cell::Number(SpeedUp(rows, row), 2)});
  }
  const ResultTable paces = PaceTable(rows);
  return absl::StrCat(table.AsText(), paces.rows.empty() ? "" : "\n", paces.rows.empty() ? "" : paces.AsText());
}

std::string AccuracyJson(absl::Span<const AccuracyRow> rows, double target) {
  JsonWriter json;
  json.BeginObject().Name("target").Number(target / 100).Name("rows").BeginArray();
  for (const AccuracyRow& row : rows) WriteRow(rows, row, json);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace banyan
