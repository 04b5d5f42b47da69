#include "examples/precision/precision_table.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/result_table.h"
#include "core/json_writer.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

double MeanOf(const GuidedRow& row, const std::function<double(const GuidedResult&)>& value) {
  double sum = 0;
  for (const GuidedResult& result : row.results) sum += value(result);
  return sum / static_cast<double>(std::max<size_t>(row.results.size(), 1));
}

// Per character, of a model of text.
std::optional<double> Nats(const GuidedRow& row) {
  if (row.results.empty() || !row.results.front().quality.nats.has_value()) return std::nullopt;
  return MeanOf(row, [](const GuidedResult& r) { return *r.quality.nats; });
}

// "3 of 3 after 4 to 9 rounds"; empty without a damage.
std::string Noticed(const GuidedRow& row) {
  int damaged = 0;
  std::vector<int64_t> delays;
  for (const GuidedResult& result : row.results) {
    damaged += result.damaged_round.has_value() ? 1 : 0;
    if (result.noticed_round.has_value()) delays.push_back(*result.noticed_round - *result.damaged_round + 1);
  }
  if (damaged == 0) return "";
  if (delays.empty()) return absl::StrFormat("0 of %d", damaged);
  const auto [least, most] = std::minmax_element(delays.begin(), delays.end());
  return absl::StrFormat("%d of %d in %d to %d rounds", delays.size(), damaged, *least, *most);
}

void WriteResult(const GuidedResult& result, JsonWriter& json) {
  json.BeginObject();
  json.Name("accuracy").Number(result.quality.accuracy);
  if (result.quality.nats.has_value()) json.Name("nats").Number(*result.quality.nats);
  json.Name("low_bit").Integer(static_cast<uint64_t>(result.candidates.low_bit));
  json.Name("fallback").Integer(static_cast<uint64_t>(result.candidates.fallback));
  json.Name("plain").Integer(static_cast<uint64_t>(result.candidates.plain));
  json.Name("low_bit_share").Number(result.candidates.low_bit_share());
  json.Name("traffic_ratio").Number(result.all.traffic_ratio());
  json.Name("sent_ratio").Number(result.sent_ratio());
  json.Name("violations").Integer(static_cast<uint64_t>(result.all.violations));
  json.Name("triggers").Integer(static_cast<uint64_t>(result.triggers));
  json.Name("false_triggers").Integer(static_cast<uint64_t>(result.false_triggers));
  json.Name("readmissions").Integer(static_cast<uint64_t>(result.readmissions));
  json.Name("rounds_to_notice");
  if (result.noticed_round.has_value()) {
    json.Integer(static_cast<uint64_t>(*result.noticed_round - *result.damaged_round + 1));
  } else {
    json.Null();
  }
  json.EndObject();
}

}  // namespace

std::string PrecisionText(const std::vector<GuidedRow>& rows) {
  ResultTable table;
  table.title =
      "Means over seeds. Low-bit share, L/F/P and vetoes are of tensors that may go low-bit; traffic is of all.";
  table.columns = {{"setting"}, {"accuracy %"}, {"lowest %"}, {"nats"},  {"low-bit %"},     {"L/F/P"},
                   {"MGTR"},    {"sent"},       {"triggers"}, {"false"}, {"damage noticed"}};
  std::string violated;
  for (const GuidedRow& row : rows) {
    double lowest = 1;
    RouteCounts counts;
    int64_t violations = 0;
    for (const GuidedResult& result : row.results) {
      lowest = std::min(lowest, result.quality.accuracy);
      counts.Add(result.candidates);
      violations += result.all.violations;
    }
    const auto mean = [&row](int digits, const std::function<double(const GuidedResult&)>& value) {
      return Cell::Number(MeanOf(row, value), digits);
    };
    table.rows.push_back(
        {Cell::Text(row.setting), mean(2, [](const GuidedResult& r) { return 100 * r.quality.accuracy; }),
         Cell::Number(100 * lowest, 2), Cell::Number(Nats(row), 3), Cell::Number(100 * counts.low_bit_share(), 2),
         Cell::Text(absl::StrCat("L", counts.low_bit, "/F", counts.fallback, "/P", counts.plain)),
         mean(3, [](const GuidedResult& r) { return r.all.traffic_ratio(); }),
         mean(3, [](const GuidedResult& r) { return r.sent_ratio(); }),
         mean(1, [](const GuidedResult& r) { return static_cast<double>(r.triggers); }),
         mean(1, [](const GuidedResult& r) { return static_cast<double>(r.false_triggers); }),
         Cell::Text(Noticed(row))});
    if (violations > 0) absl::StrAppendFormat(&violated, "%s: %d route violations\n", row.setting, violations);
  }
  return absl::StrCat(table.AsText(), violated);
}

std::string PrecisionJson(const std::vector<GuidedRow>& rows) {
  JsonWriter json;
  json.BeginObject().Name("rows").BeginArray();
  for (const GuidedRow& row : rows) {
    json.BeginObject().Name("setting").String(row.setting).Name("results").BeginArray();
    for (const GuidedResult& result : row.results) WriteResult(result, json);
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return absl::StrCat(json.text(), "\n");
}

}  // namespace banyan
