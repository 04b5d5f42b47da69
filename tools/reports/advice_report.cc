#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/json_writer.h"
#include "core/units.h"
#include "tools/reports/plan_reports.h"

namespace banyan {
namespace {

constexpr size_t kBest = 3;
constexpr size_t kShown = 20;

// Returns how many seconds a round of the model is shorter when the rate is `more_bps` higher.
double SecondsSaved(const UpgradeAdvice& advice, double model_bits, double more_bps) {
  return model_bits / advice.rate_bps - model_bits / (advice.rate_bps + more_bps);
}

std::string WorthTable(const UpgradeAdvice& advice, const NetworkView& view, double model_bits) {
  size_t width = 10;
  for (const Upgrade& upgrade : advice.upgrades) width = std::max(width, NameOf(upgrade.capacity, view).size());
  std::string text = absl::StrFormat("\n%-*s  %8s  one Mbit/s more is worth", width, "what binds", "Mbit/s");
  absl::StrAppend(&text, model_bits > 0 ? "  a round\n" : "\n");
  const size_t shown = std::min(kShown, advice.upgrades.size());
  for (size_t i = 0; i < shown; ++i) {
    const Upgrade& upgrade = advice.upgrades[i];
    absl::StrAppendFormat(&text, "%-*s  %8.1f  %17.3f Mbit/s", width, NameOf(upgrade.capacity, view),
                          upgrade.capacity_bps / kBitsPerMegabit, upgrade.worth);
    if (model_bits > 0) {
      absl::StrAppendFormat(&text, "  -%.3g s", SecondsSaved(advice, model_bits, upgrade.worth * kBitsPerMegabit));
    }
    absl::StrAppend(&text, "\n");
  }
  if (shown < advice.upgrades.size()) {
    absl::StrAppend(&text, "and ", advice.upgrades.size() - shown, " more; see --json\n");
  }
  return text;
}

std::string BestUpgrades(const UpgradeAdvice& advice, const NetworkView& view, double model_bits) {
  std::vector<Upgrade> best = advice.upgrades;
  std::stable_sort(best.begin(), best.end(),
                   [](const Upgrade& a, const Upgrade& b) { return a.doubled_rate_bps > b.doubled_rate_bps; });
  best.resize(std::min(best.size(), kBest));
  std::string text = "\ntwice of one, planned again\n";
  for (const Upgrade& upgrade : best) {
    absl::StrAppendFormat(&text, "  %s with %.1f Mbit/s: %.1f Mbit/s", NameOf(upgrade.capacity, view),
                          2 * upgrade.capacity_bps / kBitsPerMegabit, upgrade.doubled_rate_bps / kBitsPerMegabit);
    if (model_bits > 0) absl::StrAppendFormat(&text, ", %.3g s a round", model_bits / upgrade.doubled_rate_bps);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace

std::string AdviceText(const UpgradeAdvice& advice, const NetworkView& view, double model_bits) {
  std::string text = absl::StrFormat("rate  %.1f Mbit/s at best as it is; no scheme can beat %.1f Mbit/s\n",
                                     advice.rate_bps / kBitsPerMegabit, advice.bound_bps / kBitsPerMegabit);
  if (model_bits > 0) {
    absl::StrAppendFormat(&text, "time  %.3g s a round at that rate, without delays\n", model_bits / advice.rate_bps);
  }
  if (advice.upgrades.empty()) {
    absl::StrAppend(&text, "\nNo single upgrade makes it faster: several things bind that only help together.\n");
  } else {
    absl::StrAppend(&text, WorthTable(advice, view, model_bits), BestUpgrades(advice, view, model_bits));
  }
  if (advice.spare.empty()) return text;
  return absl::StrCat(text, "\nall of these together could be half as fast without loss\n  ",
                      absl::StrJoin(advice.spare, ", ",
                                    [&view](std::string* out, const NetworkCapacity& capacity) {
                                      out->append(NameOf(capacity, view));
                                    }),
                      "\n");
}

std::string AdviceJson(const UpgradeAdvice& advice, const NetworkView& view, double model_bits) {
  JsonWriter json;
  json.BeginObject().Name("rate_mbps").Number(advice.rate_bps / kBitsPerMegabit);
  json.Name("bound_mbps").Number(advice.bound_bps / kBitsPerMegabit).Name("upgrades").BeginArray();
  for (const Upgrade& upgrade : advice.upgrades) {
    json.BeginObject().Name("name").String(NameOf(upgrade.capacity, view));
    json.Name("mbps").Number(upgrade.capacity_bps / kBitsPerMegabit).Name("worth").Number(upgrade.worth);
    json.Name("doubled_rate_mbps").Number(upgrade.doubled_rate_bps / kBitsPerMegabit);
    if (model_bits > 0) {
      json.Name("seconds_per_mbps").Number(SecondsSaved(advice, model_bits, upgrade.worth * kBitsPerMegabit));
      json.Name("doubled_seconds").Number(model_bits / upgrade.doubled_rate_bps);
    }
    json.EndObject();
  }
  json.EndArray().Name("spare").BeginArray();
  for (const NetworkCapacity& capacity : advice.spare) json.String(NameOf(capacity, view));
  json.EndArray().EndObject();
  return json.text() + "\n";
}

}  // namespace banyan
