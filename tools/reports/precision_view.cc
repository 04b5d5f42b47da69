#include "tools/reports/precision_view.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

// That were low-bit or fell back most often.
constexpr size_t kMostRoutesShown = 5;

PrecisionView::Rounds ParseRounds(const JsonValue& object) {
  return {object["key"] ? object["key"].as<std::string>() : "", object["low_bit"].as<int64_t>(),
          object["fallback"].as<int64_t>(), object["plain"].as<int64_t>(), object["mixed"].as<int64_t>()};
}

std::string KeysText(std::vector<PrecisionView::Rounds> keys) {
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a.low_bit + a.fallback > b.low_bit + b.fallback; });
  const size_t more = keys.size() - std::min(keys.size(), kMostRoutesShown);
  keys.resize(keys.size() - more);
  std::string text = absl::StrJoin(keys, "; ", [](std::string* out, const PrecisionView::Rounds& rounds) {
    absl::StrAppendFormat(out, "%s %d/%d/%d", rounds.key, rounds.low_bit, rounds.fallback, rounds.plain);
  });
  if (more > 0) absl::StrAppend(&text, "; and ", more, " more");
  return text;
}

}  // namespace

PrecisionView ParsePrecision(const JsonValue& object) {
  PrecisionView view;
  view.profile = object["profile"].as<std::string>();
  view.state = object["state"].as<std::string>();
  view.veto = object["veto"].as<std::string>();
  view.vetoes = object["vetoes"].as<int64_t>();
  view.ordered = object["vetoed_by_order"].as<std::vector<std::string>>();
  view.violations = object["violations"].as<int64_t>();
  const JsonValue& audit = object["audit"];
  view.candidates = ParseRounds(audit["candidates"]);
  view.low_bit_share = audit["candidates"]["low_bit_share"].as<double>();
  view.veto_share = audit["candidates"]["veto_share"].as<double>();
  view.bits_per_element = audit["bits_per_element"].as<double>();
  view.traffic_ratio = audit["all"]["traffic_ratio"].as<double>();
  view.sent_bytes = object["sent"]["bytes"].as<double>();
  view.full_bytes = object["sent"]["fp32_bytes"].as<double>();
  for (const JsonValue& key : audit["keys"]) {
    const PrecisionView::Rounds rounds = ParseRounds(key);
    if (rounds.low_bit + rounds.fallback > 0) view.keys.push_back(rounds);
  }
  return view;
}

std::string PrecisionText(const PrecisionView& precision) {
  std::string text = absl::StrFormat(
      "low-bit rounds (%s): %s, %.1f %% of the candidates' low-bit, %.1f %% of admitted ones vetoed, veto %s (%d so "
      "far)",
      precision.profile, precision.state, 100 * precision.low_bit_share, 100 * precision.veto_share, precision.veto,
      precision.vetoes);
  if (!precision.ordered.empty()) {
    absl::StrAppend(&text, ", vetoed by order: ", absl::StrJoin(precision.ordered, ", "));
  }
  absl::StrAppendFormat(
      &text,
      "\n  MGTR %.3f at %.3g bits per element; really sent %.2f MB, %.2f MB as FP32; %d violations, %d "
      "mixed rounds\n",
      precision.traffic_ratio, precision.bits_per_element, precision.sent_bytes / 1e6, precision.full_bytes / 1e6,
      precision.violations, precision.candidates.mixed);
  if (!precision.keys.empty()) {
    absl::StrAppend(&text, "  rounds low-bit/fallback/plain: ", KeysText(precision.keys), "\n");
  }
  return text;
}

}  // namespace banyan
