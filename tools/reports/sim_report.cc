#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/json_writer.h"
#include "core/units.h"
#include "sim/runs/adaptation.h"
#include "tools/reports/sim_reports.h"

namespace banyan {
namespace {

constexpr size_t kShownRounds = 20;
constexpr size_t kShownLinks = 40;

std::string AdaptationText(const SimulationReport& report) {
  if (!report.informed_p50.has_value()) return "";
  const double informed_seconds = absl::ToDoubleSeconds(*report.informed_p50);
  const Adaptation adaptation = AdaptationOf(RoundSeconds(report), informed_seconds);
  std::string text = absl::StrFormat("told all rates      %.3f s", informed_seconds);
  if (adaptation.near_from.has_value()) {
    absl::StrAppendFormat(&text, "; within %.0f %% of it from round %d on, after %.1f s", 100 * (kNear - 1),
                          report.rounds[*adaptation.near_from].round.value(), adaptation.near_after_seconds);
  } else {
    absl::StrAppendFormat(&text, "; never within %.0f %% of it", 100 * (kNear - 1));
  }
  absl::StrAppendFormat(&text, "; the first %d rounds take %.2f times as long\n", adaptation.first_rounds,
                        adaptation.first_ratio);
  return text;
}

void WriteAdaptation(const SimulationReport& report, JsonWriter& json) {
  if (!report.informed_p50.has_value()) return;
  const double informed_seconds = absl::ToDoubleSeconds(*report.informed_p50);
  const Adaptation adaptation = AdaptationOf(RoundSeconds(report), informed_seconds);
  json.Name("informed_seconds_p50").Number(informed_seconds);
  if (adaptation.near_from.has_value()) {
    json.Name("near_from_round").Integer(report.rounds[*adaptation.near_from].round.value());
    json.Name("near_after_seconds").Number(adaptation.near_after_seconds);
  }
  json.Name("first_rounds_ratio").Number(adaptation.first_ratio);
}

double BoundRatio(const SimulationReport& report) { return report.rate_bps / report.bound_bps; }

std::string RoundsText(const SimulationReport& report) {
  std::string text = "\nround  policy  seconds\n";
  const size_t shown = std::min(report.rounds.size(), kShownRounds);
  for (size_t i = 0; i < shown; ++i) {
    const SimulationReport::RoundReport& round = report.rounds[i];
    absl::StrAppendFormat(&text, "%5d  %6d  %7.3f\n", round.round.value(), round.policy.value(),
                          absl::ToDoubleSeconds(round.synchronisation));
  }
  if (shown < report.rounds.size()) absl::StrAppend(&text, "and ", report.rounds.size() - shown, " more; see --json\n");
  return text;
}

// The share of the time of all rounds that the link's bytes take at its rate.
double Load(const SimulationReport::LinkReport& link, double seconds) {
  return link.rate_bps > 0 && seconds > 0 ? 8.0 * static_cast<double>(link.bytes) / link.rate_bps / seconds : 0;
}

std::string LinksText(const SimulationReport& report, const NetworkView& view) {
  double seconds = 0;
  for (const SimulationReport::RoundReport& round : report.rounds) {
    seconds += absl::ToDoubleSeconds(round.synchronisation);
  }
  size_t width = 4;
  for (const NetworkNode& node : view.nodes()) width = std::max(width, node.name.size());
  const int column = static_cast<int>(width);
  std::string text = absl::StrFormat("\n%-*s  %-*s        MB    Mbit/s  load %%\n", column, "from", column, "to");
  std::vector<SimulationReport::LinkReport> links = report.links;
  std::stable_sort(links.begin(), links.end(),
                   [&](const auto& a, const auto& b) { return Load(a, seconds) > Load(b, seconds); });
  const size_t shown = std::min(links.size(), kShownLinks);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppendFormat(&text, "%-*s  %-*s  %8.1f  %8.1f  %6.1f\n", column, view.NameOf(links[i].from), column,
                          view.NameOf(links[i].to), static_cast<double>(links[i].bytes) / kBytesPerMegabyte,
                          links[i].rate_bps / kBitsPerMegabit, 100 * Load(links[i], seconds));
  }
  if (shown < links.size()) absl::StrAppend(&text, "and ", links.size() - shown, " less loaded ones; see --json\n");
  return text;
}

}  // namespace

std::string SimText(const SimulationReport& report, const NetworkView& view) {
  std::string text;
  absl::StrAppendFormat(&text, "synchronisation     %.3f s (median of %d rounds, %.1f MB each)\n",
                        absl::ToDoubleSeconds(report.synchronisation_p50), report.rounds.size(),
                        report.model_bits / 8 / kBytesPerMegabyte);
  absl::StrAppend(&text, AdaptationText(report));
  absl::StrAppendFormat(&text, "rate                %.1f Mbit/s\n", report.rate_bps / kBitsPerMegabit);
  absl::StrAppendFormat(&text, "rate of the plan    %.1f Mbit/s\n", report.plan_rate_bps / kBitsPerMegabit);
  const double ratio = BoundRatio(report);
  // The bound is of float32 tensors; what travels compressed may pass it.
  absl::StrAppendFormat(&text, "upper bound         %.1f Mbit/s%s, reached to %.1f %%\n",
                        report.bound_bps / kBitsPerMegabit, ratio > 1 ? " uncompressed" : "", 100 * ratio);
  absl::StrAppendFormat(&text, "least time          %.3f s (for links, delays and hosts), %.2f of the median\n",
                        absl::ToDoubleSeconds(report.least_round),
                        absl::FDivDuration(report.least_round, report.synchronisation_p50));
  absl::StrAppendFormat(&text, "policies            %d; %.1f %% of the bytes were on auxiliary paths\n",
                        report.policies, 100 * report.auxiliary_share);
  absl::StrAppend(&text, "replicas            ", report.replicas_identical ? "identical" : "DIFFERENT", "\n");
  absl::StrAppendFormat(&text, "trace               %016x, %d events, %.1f simulated seconds\n", report.trace_hash,
                        report.events, absl::ToDoubleSeconds(report.simulated));
  return text + RoundsText(report) + LinksText(report, view);
}

std::string SimJson(const SimulationReport& report, const NetworkView& view) {
  JsonWriter json;
  json.BeginObject().Name("rounds").BeginArray();
  for (const SimulationReport::RoundReport& round : report.rounds) {
    json.BeginObject().Name("round").Integer(round.round.value()).Name("policy").Integer(round.policy.value());
    json.Name("sync_seconds").Number(absl::ToDoubleSeconds(round.synchronisation)).EndObject();
  }
  json.EndArray().Name("sync_seconds_p50").Number(absl::ToDoubleSeconds(report.synchronisation_p50));
  json.Name("rate_mbps").Number(report.rate_bps / kBitsPerMegabit);
  json.Name("plan_rate_mbps").Number(report.plan_rate_bps / kBitsPerMegabit);
  json.Name("bound_mbps").Number(report.bound_bps / kBitsPerMegabit);
  json.Name("bound_ratio").Number(BoundRatio(report));
  json.Name("least_round_seconds").Number(absl::ToDoubleSeconds(report.least_round));
  WriteAdaptation(report, json);
  json.Name("policies").Integer(report.policies).Name("auxiliary_share").Number(report.auxiliary_share);
  json.Name("links").BeginArray();
  for (const SimulationReport::LinkReport& link : report.links) {
    json.BeginObject().Name("from").String(view.NameOf(link.from)).Name("to").String(view.NameOf(link.to));
    json.Name("bytes").Integer(static_cast<uint64_t>(link.bytes)).EndObject();
  }
  json.EndArray().Name("replicas_identical").Boolean(report.replicas_identical);
  json.Name("trace_hash").String(absl::StrFormat("%016x", report.trace_hash));
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace banyan
