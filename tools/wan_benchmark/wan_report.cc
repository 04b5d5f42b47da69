#include "tools/wan_benchmark/wan_report.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "bench/result_table.h"
#include "bench/timing.h"
#include "core/check.h"
#include "core/json_writer.h"
#include "core/units.h"
#include "sim/runs/adaptation.h"

namespace banyan {
namespace {

using Cell = ResultTable::Cell;

// --- results ---

std::vector<double> TimesOf(const std::vector<ContenderResult::Round>& rounds) {
  std::vector<double> seconds;
  for (const ContenderResult::Round& round : rounds) seconds.push_back(round.seconds);
  return seconds;
}

std::vector<double> SortedSeconds(const std::vector<ContenderResult::Round>& rounds) {
  BANYAN_CHECK(!rounds.empty());
  std::vector<double> seconds = TimesOf(rounds);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// The least time within which this part of the rounds is done.
double Quantile(const std::vector<ContenderResult::Round>& rounds, double part) {
  return SortedSeconds(rounds)[static_cast<size_t>(part * static_cast<double>(rounds.size() - 1))];
}

}  // namespace

double MedianSeconds(const ContenderResult& result) { return Median(SortedSeconds(result.rounds)); }

double FastestSeconds(const ContenderResult& result) { return SortedSeconds(result.rounds).front(); }

double SlowestSeconds(const ContenderResult& result) { return SortedSeconds(result.rounds).back(); }

const ContenderResult::Round* FirstRoundNear(const ContenderResult& result, double usual_seconds) {
  const std::optional<size_t> first = FirstNear(TimesOf(result.rounds), usual_seconds);
  return first.has_value() ? &result.rounds[*first] : nullptr;
}

double BytesPerRound(const ContenderResult& result) {
  BANYAN_CHECK(result.ok());
  int64_t bytes = 0;
  for (const ContenderResult::Link& link : result.links) bytes += link.bytes;
  return static_cast<double>(bytes) / static_cast<double>(result.rounds.size());
}

std::vector<ContenderResult::Link> LinkBytesBetween(const WanStatus& before, const WanStatus& after) {
  std::vector<ContenderResult::Link> links;
  for (const WanStatus::Link& link : after.links) {
    const WanStatus::Link* earlier = before.FindLink(link.from, link.to);
    links.push_back({link.from, link.to, link.bytes - (earlier == nullptr ? 0 : earlier->bytes)});
  }
  return links;
}

// --- the report ---

namespace {

double RateBps(const WanReport& report, const ContenderResult& result) {
  return report.model_bits / MedianSeconds(result);
}

double BoundRatio(const WanReport& report, const ContenderResult& result) {
  return RateBps(report, result) / report.bound_bps;
}

std::string FirstLine(const absl::Status& status) {
  return std::vector<std::string>(absl::StrSplit(std::string(status.message()), '\n')).front();
}

std::vector<Cell> MakeRow(const WanReport& report, const ContenderResult& result, const ContenderResult* favourite,
                          bool is_simulated) {
  std::vector<Cell> cells(is_simulated ? 11 : 10);
  cells.front() = {result.contender.description};
  cells.back() = {result.ok() ? result.note : absl::StrCat("failed: ", FirstLine(result.status))};
  if (!result.ok()) return cells;
  const double median = MedianSeconds(result);
  cells[1] = Cell::Number(median, 2);
  cells[2] = Cell::Number(FastestSeconds(result), 2);
  cells[3] = Cell::Number(SlowestSeconds(result), 2);
  cells[4] = Cell::Number(RateBps(report, result) / kBitsPerMegabit, 1);
  cells[5] = Cell::Number(BoundRatio(report, result), 2);
  cells[6] = Cell::Number(favourite == nullptr ? 0 : median / MedianSeconds(*favourite), 2);
  cells[7] = Cell::Number(BytesPerRound(result) / kBytesPerMegabyte, 1);
  cells[8] = Cell::Number(result.nodes_cores, 2);
  if (is_simulated) cells[9] = Cell::Number(result.simulated_seconds, 2);
  return cells;
}

// What is said of those that are told less than `informed`, in the order of the results.
std::string Adaptations(const WanReport& report, const ContenderResult* informed) {
  std::string text;
  if (informed == nullptr || informed->contender.told.kind != ToldLinks::Kind::kRates) return text;
  for (const ContenderResult& result : report.results) {
    if (!result.ok() || result.contender.told.kind == ToldLinks::Kind::kRates) continue;
    const ContenderResult::Round* near = FirstRoundNear(result, MedianSeconds(*informed));
    absl::StrAppend(&text, result.contender.name, ": ");
    if (near == nullptr) {
      absl::StrAppendFormat(&text, "never within %.0f %% of %s\n", 100 * (kNear - 1), informed->contender.name);
    } else {
      absl::StrAppendFormat(&text, "within %.0f %% of %s from round %d on, after %.1f s\n", 100 * (kNear - 1),
                            informed->contender.name, near->round, near->began_after_s);
    }
  }
  return text.empty() ? text : absl::StrCat("\n", text);
}

// Whole messages, where a row has room for a line.
std::string Failures(const WanReport& report) {
  std::string text;
  for (const ContenderResult& result : report.results) {
    if (result.status.ok() || !absl::StrContains(result.status.message(), "\n")) continue;
    absl::StrAppend(&text, "\n", result.contender.name, ": ", result.status.message(), "\n");
  }
  for (const std::string& line : report.left_out) absl::StrAppend(&text, "\n", line, "\n");
  return text;
}

void WriteMeasurements(const WanReport& report, const ContenderResult& result, JsonWriter& json) {
  json.Name("rounds").BeginArray();
  for (const ContenderResult::Round& round : result.rounds) {
    json.BeginObject().Name("round").Integer(static_cast<uint64_t>(round.round)).Name("policy");
    json.Integer(static_cast<uint64_t>(round.policy)).Name("sync_seconds").Number(round.seconds).EndObject();
  }
  json.EndArray().Name("sync_seconds_p50").Number(MedianSeconds(result));
  json.Name("sync_seconds_min").Number(FastestSeconds(result));
  json.Name("sync_seconds_max").Number(SlowestSeconds(result));
  json.Name("rate_mbps").Number(RateBps(report, result) / kBitsPerMegabit);
  json.Name("bound_mbps").Number(report.bound_bps / kBitsPerMegabit);
  json.Name("bound_ratio").Number(BoundRatio(report, result));
  json.Name("links").BeginArray();
  for (const ContenderResult::Link& link : result.links) {
    json.BeginObject().Name("from").String(link.from).Name("to").String(link.to).Name("bytes");
    json.Integer(static_cast<uint64_t>(std::max<int64_t>(0, link.bytes))).EndObject();
  }
  // A member that finds a wrong sum ends the contender with a failure; right ones are the same everywhere.
  json.EndArray().Name("replicas_identical").Boolean(true);
  if (result.simulated_seconds.has_value()) json.Name("simulated_seconds").Number(*result.simulated_seconds);
  json.Name("nodes_cores").Number(result.nodes_cores).Name("forwarder_cores").Number(result.forwarder_cores);
}

void WriteAdaptation(const ContenderResult& result, const ContenderResult* informed, JsonWriter& json) {
  if (informed == nullptr || result.contender.told == informed->contender.told) return;
  const ContenderResult::Round* near = FirstRoundNear(result, MedianSeconds(*informed));
  if (near == nullptr) return;
  json.Name("near_from_round").Integer(static_cast<uint64_t>(near->round));
  json.Name("near_after_seconds").Number(near->began_after_s);
}

void WriteContender(const WanReport& report, const ContenderResult& result, const ContenderResult* favourite,
                    JsonWriter& json) {
  json.BeginObject().Name("name").String(result.contender.name);
  json.Name("description").String(result.contender.description);
  if (result.ok()) {
    WriteMeasurements(report, result, json);
    json.Name("slower_than_favourite");
    json.Number(favourite == nullptr ? 0 : MedianSeconds(result) / MedianSeconds(*favourite));
    WriteAdaptation(result, favourite, json);
    json.Name("note").String(result.note);
  } else {
    json.Name("failure").String(std::string(result.status.message()));
  }
  json.EndObject();
}

// For gnuplot.
std::string Quoted(const std::string& text) { return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'"); }

}  // namespace

const ContenderResult* Favourite(const WanReport& report) {
  const ContenderResult* favourite = nullptr;
  for (const ContenderResult& result : report.results) {
    if (result.ok() && result.contender.system == ContenderSystem::kBanyan) favourite = &result;
  }
  return favourite;
}

std::string WanReportText(const WanReport& report) {
  const ContenderResult* favourite = Favourite(report);
  const bool is_simulated =
      std::any_of(report.results.begin(), report.results.end(),
                  [](const ContenderResult& result) { return result.simulated_seconds.has_value(); });
  ResultTable table;
  table.title =
      absl::StrFormat("%s: all-reduce of %.1f MB; no scheme can reach more than %.1f Mbit/s%s; TCP with %s",
                      report.overlay, report.model_bits / 8 / kBytesPerMegabyte, report.bound_bps / kBitsPerMegabit,
                      report.dynamic ? " at the first rates" : "", report.congestion);
  table.columns = {{"contender"}, {"seconds"}, {"fastest"},  {"slowest"}, {"Mbit/s"},
                   {"bound"},     {"slower"},  {"MB/round"}, {"cores"}};
  if (is_simulated) table.columns.push_back({"simulated"});
  table.columns.push_back({"note"});
  for (const ContenderResult& result : report.results) {
    table.rows.push_back(MakeRow(report, result, favourite, is_simulated));
  }
  std::string text = table.AsText();
  absl::StrAppend(&text, "\nbound: part of that rate. slower: times the seconds of ",
                  favourite == nullptr ? "Banyan, which has none" : favourite->contender.name,
                  ". MB/round: over all links, with headers. cores: of the processes in all nodes.",
                  is_simulated ? " simulated: the seconds that `banyan sim --headers` takes." : "", "\n");
  return text + Adaptations(report, favourite) + Failures(report);
}

std::string WanReportJson(const WanReport& report) {
  const ContenderResult* favourite = Favourite(report);
  JsonWriter json;
  json.BeginObject().Name("overlay").String(report.overlay);
  json.Name("model_bytes").Integer(static_cast<uint64_t>(report.model_bits / 8));
  json.Name("congestion").String(report.congestion).Name("dynamic").Boolean(report.dynamic);
  if (favourite != nullptr) WriteMeasurements(report, *favourite, json);
  json.Name("contenders").BeginArray();
  for (const ContenderResult& result : report.results) WriteContender(report, result, favourite, json);
  json.EndArray().Name("left_out").BeginArray();
  for (const std::string& line : report.left_out) json.String(line);
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string WanReportGnuplot(const WanReport& report, const std::string& png_path) {
  std::string text = absl::StrCat(
      "set terminal png size 900,520\nset output ", Quoted(png_path), "\nset title ",
      Quoted(absl::StrFormat("%s, %.1f MB", report.overlay, report.model_bits / 8 / kBytesPerMegabyte)),
      " noenhanced\nset ylabel 'Mbit/s of model'\nset yrange [0:", 1.15 * report.bound_bps / kBitsPerMegabit,
      "]\nset xrange [-0.5:", static_cast<double>(report.results.size()) - 0.5,
      "]\nset style fill solid 0.7\nset boxwidth 0.7\nset xtics rotate by -30 noenhanced\n"
      "set key top right noenhanced\n$data << END\n");
  for (size_t i = 0; i < report.results.size(); ++i) {
    const ContenderResult& result = report.results[i];
    absl::StrAppendFormat(&text, "%d \"%s\" %.3f\n", i, result.contender.name,
                          result.ok() ? RateBps(report, result) / kBitsPerMegabit : 0);
  }
  absl::StrAppendFormat(
      &text,
      "END\nplot $data using 1:3:xtic(2) with boxes title 'measured', %.3f with lines linewidth 2 title 'bound'\n",
      report.bound_bps / kBitsPerMegabit);
  return text;
}

// --- the report of rounds in bursts ---

namespace {

std::string LinksOf(const ContenderResult& result) {
  return absl::StrJoin(result.loaded, ", ", [](std::string* out, const ContenderResult::Link& link) {
    absl::StrAppend(out, link.from, "-", link.to);
  });
}

ResultTable BurstTable(const WanReport& report) {
  ResultTable table;
  table.title =
      absl::StrFormat("%s: all-reduce of %.1f MB; seconds of rounds, and over the undisturbed median; TCP with %s",
                      report.overlay, report.model_bits / 8 / kBytesPerMegabyte, report.congestion);
  table.columns = {{"", "name"},
                   {"contender"},
                   {"quiet", "quiet_seconds_p50"},
                   {"in bursts", "seconds_p50"},
                   {"/ quiet"},
                   {"99 %", "seconds_p99"},
                   {"/ quiet", "p99_over_quiet"},
                   {"rounds"},
                   {"links with bursts", "links"},
                   {"note"},
                   {"", "failure"}};
  for (const ContenderResult& result : report.results) {
    std::vector<Cell>& cells = table.rows.emplace_back(table.columns.size());
    cells[0] = Cell::Text(result.contender.name);
    cells[1] = {result.contender.description};
    if (!result.ok()) {
      cells[9] = {absl::StrCat("failed: ", FirstLine(result.status))};
      cells[10] = Cell::Text(std::string(result.status.message()));
      continue;
    }
    const double quiet = Quantile(result.quiet_rounds, 0.5);
    const double median = Quantile(result.rounds, 0.5);
    const double p99 = Quantile(result.rounds, 0.99);
    cells[2] = Cell::Number(quiet, 2);
    cells[3] = Cell::Number(median, 2);
    cells[4] = {absl::StrFormat("%.2f", median / quiet)};
    cells[5] = Cell::Number(p99, 2);
    cells[6] = Cell::Number(p99 / quiet, 2);
    cells[7] = Cell::Number(static_cast<double>(result.rounds.size()), 0);
    cells[8] = Cell::Text(LinksOf(result));
    cells[9] = Cell::Text(result.note);
  }
  return table;
}

}  // namespace

std::string BurstReportText(const WanReport& report) {
  return absl::StrCat(
      BurstTable(report).AsText(),
      "\nWhere there are times, all replicas were identical bit by bit, and nothing was missing after a flush.\n",
      Failures(report));
}

std::string BurstReportJson(const WanReport& report) {
  JsonWriter json;
  json.BeginObject().Name("overlay").String(report.overlay);
  json.Name("model_bytes").Integer(static_cast<uint64_t>(report.model_bits / 8));
  json.Name("congestion").String(report.congestion).Name("contenders");
  BurstTable(report).WriteTo(json);
  return json.EndObject().text() + "\n";
}

}  // namespace banyan
