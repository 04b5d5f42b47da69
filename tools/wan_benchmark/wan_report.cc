#include "tools/wan_benchmark/wan_report.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/json_writer.h"
#include "core/units.h"
#include "sim/runs/adaptation.h"

namespace banyan {
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

std::string Row(const WanReport& report, const ContenderResult& result, const ContenderResult* favourite, int width) {
  std::string text = absl::StrFormat("%-*s  ", width, result.contender.description);
  if (!result.ok()) return absl::StrCat(text, "failed: ", FirstLine(result.status), "\n");
  absl::StrAppendFormat(&text, "%8.2f  %7.2f..%-7.2f  %7.1f  %5.2f  %6.2f  %8.1f  %5.2f", MedianSeconds(result),
                        FastestSeconds(result), SlowestSeconds(result), RateBps(report, result) / kBitsPerMegabit,
                        BoundRatio(report, result),
                        favourite == nullptr ? 0 : MedianSeconds(result) / MedianSeconds(*favourite),
                        BytesPerRound(result) / kBytesPerMegabyte, result.nodes_cores);
  if (result.simulated_seconds.has_value()) absl::StrAppendFormat(&text, "  %9.2f", *result.simulated_seconds);
  return absl::StrCat(text, result.note.empty() ? "" : "  ", result.note, "\n");
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
  size_t width = 9;
  bool is_simulated = false;
  for (const ContenderResult& result : report.results) {
    width = std::max(width, result.contender.description.size());
    is_simulated |= result.simulated_seconds.has_value();
  }
  std::string text = absl::StrFormat(
      "%s: all-reduce of %.1f MB; no scheme can reach more than %.1f Mbit/s%s; TCP with %s\n\n%-*s  seconds  "
      "fastest..slowest   Mbit/s  bound  slower  MB/round  cores%s\n",
      report.overlay, report.model_bits / 8 / kBytesPerMegabyte, report.bound_bps / kBitsPerMegabit,
      report.dynamic ? " at the first rates" : "", report.congestion, static_cast<int>(width), "contender",
      is_simulated ? "  simulated" : "");
  for (const ContenderResult& result : report.results) {
    absl::StrAppend(&text, Row(report, result, favourite, static_cast<int>(width)));
  }
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

}  // namespace banyan
