#include "tools/chaos/chaos_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "core/json_writer.h"

namespace banyan {
namespace {

constexpr absl::Duration kMostInTheMedian = absl::Milliseconds(1500);
constexpr absl::Duration kMostIn99Of100 = absl::Seconds(3);
constexpr absl::Duration kMostUntilBack = absl::Seconds(5);
constexpr double kLeastRatePart = 0.88;

std::string Seconds(absl::Duration time) { return absl::StrFormat("%.2f s", absl::ToDoubleSeconds(time)); }

std::string FormatTimes(const ChaosTimes& times) {
  return absl::StrCat(Seconds(times.median), " in the median, ", Seconds(times.percentile_99), " in 99 of 100, ",
                      Seconds(times.longest), " at most");
}

std::string FormatCost(const ChaosCost& cost) {
  const bool is_one = cost.faults == 1;
  const char* const counted = InfoOf(cost.kind).counted;
  std::string text =
      absl::StrCat(cost.faults, " ", absl::Substitute(counted, is_one ? "" : "s", is_one ? "" : "es"), "\n");
  if (cost.without_result.count > 0) {
    absl::StrAppend(&text, "  survivors without a result: ", FormatTimes(cost.without_result), "\n");
  }
  if (cost.stalled > 0) absl::StrAppend(&text, "  no result any more after ", cost.stalled, " of them\n");
  if (cost.back.count > 0) absl::StrAppend(&text, "  contributing again after: ", FormatTimes(cost.back), "\n");
  if (cost.not_back > 0) absl::StrAppend(&text, "  not contributing again: ", cost.not_back, "\n");
  return text;
}

const char* DescribeEnd(ChaosEnd end) {
  switch (end) {
    case ChaosEnd::kTimeIsOver:
      return "the time is over";
    case ChaosEnd::kInterrupted:
      return "interrupted";
    case ChaosEnd::kTrainingIsOver:
      return "the training is over";
    case ChaosEnd::kJobIsGone:
      return "the job has ended before its training";
  }
  return "";
}

void WriteTimes(const ChaosTimes& times, JsonWriter& json) {
  json.BeginObject().Name("count").Integer(times.count);
  json.Name("median_seconds").Number(absl::ToDoubleSeconds(times.median));
  json.Name("percentile_99_seconds").Number(absl::ToDoubleSeconds(times.percentile_99));
  json.Name("longest_seconds").Number(absl::ToDoubleSeconds(times.longest)).EndObject();
}

void WriteOptional(const char* name, const std::optional<double>& value, JsonWriter& json) {
  json.Name(name);
  if (value.has_value()) {
    json.Number(*value);
  } else {
    json.Null();
  }
}

void WriteFault(const ChaosFault& fault, JsonWriter& json) {
  json.BeginObject().Name("kind").String(InfoOf(fault.kind).name).Name("target").String(fault.target);
  json.Name("steady_ns").Integer(static_cast<uint64_t>(fault.at.nanoseconds()));
  json.Name("lasts_seconds").Number(absl::ToDoubleSeconds(fault.lasts)).EndObject();
}

void WriteCost(const ChaosCost& cost, JsonWriter& json) {
  json.BeginObject().Name("kind").String(InfoOf(cost.kind).name).Name("faults").Integer(cost.faults);
  json.Name("without_result");
  WriteTimes(cost.without_result, json);
  json.Name("stalled").Integer(cost.stalled).Name("back");
  WriteTimes(cost.back, json);
  json.Name("not_back").Integer(cost.not_back).EndObject();
}

// What a kind of kill has missed.
void AppendMissed(const ChaosCost& cost, std::vector<std::string>& missed) {
  const auto check = [&missed](const std::string& what, absl::Duration measured, absl::Duration most) {
    if (measured <= most) return;
    missed.push_back(absl::StrCat("expected ", what, " within ", Seconds(most), ", measured ", Seconds(measured)));
  };
  check("the survivors' next result in the median", cost.without_result.median, kMostInTheMedian);
  check("the survivors' next result in 99 of 100", cost.without_result.percentile_99, kMostIn99Of100);
  check("a killed node to contribute again in 99 of 100", cost.back.percentile_99, kMostUntilBack);
  if (cost.stalled > 0) missed.push_back(absl::StrCat("no result came any more after ", cost.stalled, " kills"));
  if (cost.not_back > 0) missed.push_back(absl::StrCat(cost.not_back, " killed nodes have not contributed again"));
}

}  // namespace

std::string FormatOutcome(const ChaosOutcome& outcome) {
  std::string text =
      absl::StrFormat("%d fault%s in %.0f s; %s\n", outcome.faults.size(), outcome.faults.size() == 1 ? "" : "s",
                      absl::ToDoubleSeconds(outcome.time), DescribeEnd(outcome.end));
  for (const ChaosCost& cost : outcome.figures.costs) absl::StrAppend(&text, FormatCost(cost));
  const ChaosFigures& figures = outcome.figures;
  if (figures.rounds_per_hour.has_value()) {
    absl::StrAppendFormat(&text, "rounds per hour: %.0f", *figures.rounds_per_hour);
    if (figures.rate_part().has_value()) {
      absl::StrAppendFormat(&text, ", %.2f of the %.0f without faults", *figures.rate_part(),
                            *figures.undisturbed_rounds_per_hour);
    }
    absl::StrAppend(&text, "\n");
  }
  if (figures.participation.has_value()) {
    absl::StrAppendFormat(&text, "participation: %.3f of those alive; the least, %s: %.3f\n", *figures.participation,
                          figures.least_node, *figures.least_participation);
  }
  if (figures.goodput.has_value()) absl::StrAppendFormat(&text, "goodput: %.3f\n", *figures.goodput);
  if (figures.replicas_are_equal.has_value()) {
    absl::StrAppend(&text, *figures.replicas_are_equal ? "all replicas are equal\n" : "REPLICAS DIFFER\n");
  }
  return text;
}

std::string FormatOutcomeJson(const ChaosOutcome& outcome) {
  JsonWriter json;
  json.BeginObject().Name("end").String(DescribeEnd(outcome.end));
  json.Name("seconds").Number(absl::ToDoubleSeconds(outcome.time)).Name("faults").BeginArray();
  for (const ChaosFault& fault : outcome.faults) WriteFault(fault, json);
  json.EndArray().Name("costs").BeginArray();
  for (const ChaosCost& cost : outcome.figures.costs) WriteCost(cost, json);
  json.EndArray();
  WriteOptional("undisturbed_rounds_per_hour", outcome.figures.undisturbed_rounds_per_hour, json);
  WriteOptional("rounds_per_hour", outcome.figures.rounds_per_hour, json);
  WriteOptional("rate_part", outcome.figures.rate_part(), json);
  WriteOptional("participation", outcome.figures.participation, json);
  WriteOptional("least_participation", outcome.figures.least_participation, json);
  WriteOptional("goodput", outcome.figures.goodput, json);
  json.Name("replicas_are_equal");
  const std::optional<bool> equal = outcome.figures.replicas_are_equal;
  equal.has_value() ? json.Boolean(*equal) : json.Null();
  return json.EndObject().text();
}

absl::Status CheckSurvival(const ChaosFigures& figures) {
  const auto kills = std::find_if(figures.costs.begin(), figures.costs.end(),
                                  [](const ChaosCost& cost) { return cost.kind == ChaosKind::kKillNode; });
  if (kills == figures.costs.end() || kills->without_result.count == 0 || !figures.rate_part().has_value()) {
    return absl::FailedPreconditionError(
        "expected kills of nodes, and rounds before and after them; nothing of that was seen");
  }
  std::vector<std::string> missed;
  AppendMissed(*kills, missed);
  if (*figures.rate_part() < kLeastRatePart) {
    missed.push_back(absl::StrFormat("expected at least %.2f of the rounds per hour, measured %.2f", kLeastRatePart,
                                     *figures.rate_part()));
  }
  if (missed.empty()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrJoin(missed, "; "));
}

}  // namespace banyan
