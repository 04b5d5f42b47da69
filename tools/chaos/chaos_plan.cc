#include "tools/chaos/chaos_plan.h"

#include <algorithm>

#include "core/check.h"

namespace banyan {
namespace {

constexpr double kShortestGap = 0.5;

// A stream of random numbers for each kind.
uint64_t SeedOf(ChaosKind kind, uint64_t seed) {
  Random seeds(seed);
  uint64_t drawn = seeds.Next();
  for (uint64_t i = 0; i < static_cast<uint64_t>(kind); ++i) drawn = seeds.Next();
  return drawn;
}

}  // namespace

ChaosPlan::ChaosPlan(const std::vector<ChaosInterval>& intervals, uint64_t seed) : targets_(seed) {
  for (const ChaosInterval& interval : intervals) {
    BANYAN_CHECK(interval.every > absl::ZeroDuration());
    series_.push_back({interval, Random(SeedOf(interval.kind, seed)), absl::ZeroDuration()});
    series_.back().next = DrawGap(series_.back());
  }
}

absl::Duration ChaosPlan::DrawGap(Series& series) {
  return series.interval.every * (kShortestGap + series.random.Unit());
}

const ChaosPlan::Series* ChaosPlan::Next() const {
  const auto next = std::min_element(series_.begin(), series_.end(),
                                     [](const Series& a, const Series& b) { return a.next < b.next; });
  return next == series_.end() ? nullptr : &*next;
}

absl::Duration ChaosPlan::NextTime() const {
  const Series* next = Next();
  return next == nullptr ? absl::InfiniteDuration() : next->next;
}

ChaosKind ChaosPlan::Take() {
  const Series* next = Next();
  BANYAN_CHECK(next != nullptr);
  Series& series = series_[static_cast<size_t>(next - series_.data())];
  series.next += DrawGap(series);
  return series.interval.kind;
}

}  // namespace banyan
