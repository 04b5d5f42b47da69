#include "tools/chaos/chaos_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "topology/overlay/yaml_document.h"
#include "topology/overlay/yaml_slots.h"

namespace banyan {
namespace {

constexpr double kShortestGap = 0.5;
constexpr size_t kMostFaults = 100000;
constexpr size_t kMostSites = 4096;
constexpr double kMostSeconds = 1e7;

// A stream of random numbers for each kind, and for each further series of it.
uint64_t SeedOf(ChaosKind kind, uint64_t ordinal, uint64_t seed) {
  Random seeds(seed + (ordinal << 32));
  uint64_t drawn = seeds.Next();
  for (uint64_t i = 0; i < static_cast<uint64_t>(kind); ++i) drawn = seeds.Next();
  return drawn;
}

bool IsOfLink(ChaosKind kind) {
  return kind == ChaosKind::kCutLink || kind == ChaosKind::kShareLink || kind == ChaosKind::kSlowLink;
}

// What can be asked of a fault as a whole; empty when it is sound.
std::string FaultOf(const PlannedFault& fault, bool has_at) {
  if (has_at == (fault.every > absl::ZeroDuration())) return "expected either `at` or `every`";
  const char* const name = InfoOf(fault.kind).name;
  if (fault.kind == ChaosKind::kShareLink) return "share_link comes from a demo's page alone; use slow_link";
  if (IsOfLink(fault.kind) && !fault.sites.empty() && fault.sites.size() != 2) {
    return absl::StrCat(name, " needs the two ends of a link as `sites`, or none to draw a link");
  }
  if (fault.kind == ChaosKind::kKillScheduler || fault.kind == ChaosKind::kFillDisk) {
    if (!fault.sites.empty()) return absl::StrCat(name, " hits the scheduler, and takes no `sites`");
  } else if (!IsOfLink(fault.kind) && fault.kind != ChaosKind::kPartition && fault.sites.size() > 1) {
    return absl::StrCat(name, " hits one site: give one, or none to draw it");
  }
  if (fault.one_way && !IsOfLink(fault.kind)) return absl::StrCat(name, " has no direction: leave out `one_way`");
  if (fault.rate_bps > 0 && fault.kind != ChaosKind::kSlowLink) return "`rate` belongs to slow_link";
  if (fault.lasts > absl::ZeroDuration() && !InfoOf(fault.kind).is_undone())
    return absl::StrCat(name, " lasts no time: leave out `for`");
  return "";
}

YamlSlot SlotOf(PlannedFault& fault) {
  std::vector<std::string> names;
  for (const ChaosKindInfo& info : kChaosKinds) names.emplace_back(info.name);
  return Map(
      {{"at", Number(fault.at, Seconds(0, kMostSeconds))},
       {"every",
        Number(fault.every, {.low = 0, .high = kMostSeconds, .low_allowed = false, .unit = NumberUnit::kSeconds})},
       {"fault", Required(Word(fault.kind, std::move(names)))},
       {"sites", List<std::string>(
                     fault.sites, "of sites", [](std::string& site) { return Name(site); }, 0, kMostSites)},
       {"one_way", Bool(fault.one_way)},
       {"for",
        Number(fault.lasts, {.low = 0, .high = kMostSeconds, .low_allowed = false, .unit = NumberUnit::kSeconds})},
       {"rate", Number(fault.rate_bps, {.low = 0, .high = 1e6, .low_allowed = false, .unit = NumberUnit::kMegabits})}},
      [&fault](YamlMapReader& map, YamlProblems& problems) {
        const std::string wrong = FaultOf(fault, map.Has("at"));
        if (!wrong.empty()) problems.Add(map.place(), absl::StrCat(map.where(), ": ", wrong));
      });
}

}  // namespace

absl::StatusOr<std::vector<PlannedFault>> ReadChaosSchedule(absl::string_view text, absl::string_view file_name) {
  const absl::StatusOr<YamlDocument> document = YamlDocument::Parse(text, file_name);
  if (!document.ok()) return document.status();
  YamlProblems problems(file_name);
  YamlMapReader file(document->root(), "", problems);
  std::vector<PlannedFault> faults;
  ReadKeys(file, {{"faults", Required(List<PlannedFault>(faults, "of faults", SlotOf, 1, kMostFaults))}}, problems);
  file.Finish();
  if (!problems.status().ok()) return problems.status();
  return faults;
}

ChaosPlan::ChaosPlan(std::vector<PlannedFault> faults, uint64_t seed) : targets_(seed) {
  std::map<ChaosKind, uint64_t> of_kind;
  for (PlannedFault& fault : faults) {
    const bool comes_again = fault.every > absl::ZeroDuration();
    const uint64_t ordinal = comes_again ? of_kind[fault.kind]++ : 0;
    Random random(SeedOf(fault.kind, ordinal, seed));
    series_.push_back({std::move(fault), random, absl::ZeroDuration()});
    Series& series = series_.back();
    series.next = comes_again ? DrawGap(series) : series.fault.at;
  }
}

absl::Duration ChaosPlan::DrawGap(Series& series) { return series.fault.every * (kShortestGap + series.random.Unit()); }

const ChaosPlan::Series* ChaosPlan::Next() const {
  const auto next = std::min_element(series_.begin(), series_.end(),
                                     [](const Series& a, const Series& b) { return a.next < b.next; });
  return next == series_.end() ? nullptr : &*next;
}

absl::Duration ChaosPlan::NextTime() const {
  const Series* next = Next();
  return next == nullptr ? absl::InfiniteDuration() : next->next;
}

const PlannedFault& ChaosPlan::Take() {
  const Series* next = Next();
  BANYAN_CHECK(next != nullptr);
  Series& series = series_[static_cast<size_t>(next - series_.data())];
  series.next = series.fault.every > absl::ZeroDuration() ? series.next + DrawGap(series) : absl::InfiniteDuration();
  return series.fault;
}

}  // namespace banyan
