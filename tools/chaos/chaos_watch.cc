#include "tools/chaos/chaos_watch.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

// The smallest of them that `part` of all do not exceed. REQUIRES: some, sorted.
absl::Duration Percentile(const std::vector<absl::Duration>& sorted, double part) {
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

ChaosTimes Summarize(std::vector<absl::Duration> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  return {times.size(), Percentile(times, 0.5), Percentile(times, 0.99), times.back()};
}

}  // namespace

std::optional<double> ChaosFigures::rate_part() const {
  if (!undisturbed_rounds_per_hour.has_value() || !rounds_per_hour.has_value()) return std::nullopt;
  if (*undisturbed_rounds_per_hour <= 0) return std::nullopt;
  return *rounds_per_hour / *undisturbed_rounds_per_hour;
}

void ChaosWatch::Add(const TrainingProgress& progress) {
  if (const auto* result = std::get_if<TrainingResult>(&progress)) {
    over_.insert(result->rank);
    hashes_.insert(result->hash);
    return;
  }
  const auto& round = std::get<RoundProgress>(progress);
  results_[round.rank].push_back({round.pushed_at, round.pulled_at, round.round});
  if (round.round <= last_round_) return;
  last_round_ = round.round;
  new_rounds_.emplace_back(round.pulled_at, round.round);
}

ChaosFigures ChaosWatch::Measure(const ChaosPeriods& periods) const {
  ChaosFigures figures;
  for (const ChaosKindInfo& info : kChaosKinds) {
    ChaosCost cost = CostOf(info.kind, periods.end);
    if (cost.faults > 0) figures.costs.push_back(cost);
  }
  figures.undisturbed_rounds_per_hour = RoundsPerHour(periods.start, periods.first_fault);
  figures.rounds_per_hour = RoundsPerHour(periods.first_fault, periods.last_fault);
  MeasureParticipation(periods.first_fault, periods.last_fault, figures);
  const std::optional<double> before = ResultsPerHour(periods.start, periods.first_fault);
  const std::optional<double> with_faults = ResultsPerHour(periods.first_fault, periods.last_fault);
  if (before.value_or(0) > 0 && with_faults.has_value()) figures.goodput = *with_faults / *before;
  if (is_training_over() && are_all_over()) figures.replicas_are_equal = hashes_.size() == 1;
  return figures;
}

bool ChaosWatch::IsAway(int rank, Timestamp time) const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const ChaosFault& fault) {
    return Hits(fault, rank) && fault.at <= time && time < fault.at + fault.lasts;
  });
}

void ChaosWatch::MeasureParticipation(Timestamp from, Timestamp to, ChaosFigures& figures) const {
  std::map<int, std::set<int64_t>> had;
  for (const auto& [rank, results] : results_) {
    for (const Result& result : results) had[rank].insert(result.round);
  }
  int64_t all_had = 0;
  int64_t all_due = 0;
  for (const auto& [rank, rounds] : had) {
    int64_t own_had = 0;
    int64_t own_due = 0;
    for (const auto& [first_told, round] : new_rounds_) {
      if (first_told < from || first_told >= to || IsAway(rank, first_told)) continue;
      ++own_due;
      own_had += rounds.contains(round) ? 1 : 0;
    }
    all_had += own_had;
    all_due += own_due;
    if (own_due == 0) continue;
    const double part = static_cast<double>(own_had) / static_cast<double>(own_due);
    if (part >= figures.least_participation.value_or(2)) continue;
    figures.least_participation = part;
    const auto node = nodes_.find(rank);
    figures.least_node = node == nodes_.end() ? "" : node->second;
  }
  if (all_due > 0) figures.participation = static_cast<double>(all_had) / static_cast<double>(all_due);
}

std::optional<double> ChaosWatch::ResultsPerHour(Timestamp from, Timestamp to) const {
  if (to <= from) return std::nullopt;
  size_t count = 0;
  for (const auto& [rank, results] : results_) {
    count += static_cast<size_t>(std::count_if(results.begin(), results.end(), [&](const Result& result) {
      return from <= result.pulled_at && result.pulled_at < to;
    }));
  }
  return static_cast<double>(count) / absl::ToDoubleHours(to - from);
}

bool ChaosWatch::Hits(const ChaosFault& fault, int rank) const {
  if (fault.rank.has_value()) return *fault.rank == rank;
  const auto node = nodes_.find(rank);
  if (node == nodes_.end()) return false;
  const bool is_cut_off = std::find(fault.sites.begin(), fault.sites.end(), node->second) != fault.sites.end();
  return is_cut_off || (!fault.node.empty() && node->second == fault.node);
}

Timestamp ChaosWatch::NextHit(int rank, Timestamp time) const {
  Timestamp next = kNever;
  for (const ChaosFault& fault : faults_) {
    if (fault.at > time && Hits(fault, rank)) next = std::min(next, fault.at);
  }
  return next;
}

// Hit before, and no result has come since.
bool ChaosWatch::WasDown(int rank, Timestamp time) const {
  return std::any_of(faults_.begin(), faults_.end(), [&](const ChaosFault& fault) {
    if (fault.at >= time || !Hits(fault, rank)) return false;
    const Results& results = ResultsOf(rank);
    return std::none_of(results.begin(), results.end(),
                        [&](const Result& result) { return result.pushed_at > fault.at && result.pulled_at <= time; });
  });
}

std::optional<ChaosWatch::Gap> ChaosWatch::GapAfter(const ChaosFault& fault, int rank, Timestamp end) const {
  if (Hits(fault, rank) || WasDown(rank, fault.at)) return std::nullopt;
  const Timestamp next_hit = NextHit(rank, fault.at);
  const Results& results = ResultsOf(rank);
  auto next = std::find_if(results.begin(), results.end(),
                           [&fault](const Result& result) { return result.pulled_at > fault.at; });
  Gap gap;
  Timestamp last = fault.at;
  for (int i = 0; i < 2; ++i, ++next) {
    const bool has_come = next != results.end() && next->pulled_at <= std::min(next_hit, end);
    if (!has_come && (next_hit <= end || over_.contains(rank))) {
      return i == 0 ? std::nullopt : std::optional<Gap>(gap);
    }
    const Timestamp until = has_come ? next->pulled_at : end;
    gap.time = std::max(gap.time, until - last);
    gap.is_open = !has_come;
    if (!has_come) return gap;
    last = until;
  }
  return gap;
}

std::optional<ChaosWatch::Gap> ChaosWatch::LongestGap(const ChaosFault& fault, Timestamp end) const {
  std::optional<Gap> longest;
  for (const auto& [rank, results] : results_) {
    const std::optional<Gap> gap = GapAfter(fault, rank, end);
    if (!gap.has_value()) continue;
    if (!longest.has_value()) longest = Gap();
    longest->time = std::max(longest->time, gap->time);
    longest->is_open = longest->is_open || gap->is_open;
  }
  return longest;
}

// The first of those that it has hit. Nothing when another fault came before it could be back.
std::optional<ChaosWatch::Gap> ChaosWatch::BackAfter(const ChaosFault& fault, Timestamp end) const {
  const Timestamp from = fault.at + fault.lasts;
  std::optional<Gap> first;
  for (const auto& [rank, results] : results_) {
    if (!Hits(fault, rank) || over_.contains(rank)) continue;
    const auto back =
        std::find_if(results.begin(), results.end(), [from](const Result& result) { return result.pushed_at > from; });
    const bool is_back = back != results.end();
    if (NextHit(rank, fault.at) <= (is_back ? back->pushed_at : end)) continue;
    const Gap gap = {(is_back ? back->pushed_at : std::max(end, from)) - from, !is_back};
    if (!first.has_value() || gap.time < first->time) first = gap;
  }
  return first;
}

ChaosCost ChaosWatch::CostOf(ChaosKind kind, Timestamp end) const {
  ChaosCost cost;
  cost.kind = kind;
  std::vector<absl::Duration> gaps;
  std::vector<absl::Duration> returns;
  for (const ChaosFault& fault : faults_) {
    if (fault.kind != kind) continue;
    ++cost.faults;
    if (const std::optional<Gap> gap = LongestGap(fault, end); gap.has_value()) {
      gaps.push_back(gap->time);
      if (gap->is_open) ++cost.stalled;
    }
    if (const std::optional<Gap> back = BackAfter(fault, end); back.has_value()) {
      if (back->is_open)
        ++cost.not_back;
      else
        returns.push_back(back->time);
    }
  }
  cost.without_result = Summarize(std::move(gaps));
  cost.back = Summarize(std::move(returns));
  return cost;
}

std::optional<double> ChaosWatch::RoundsPerHour(Timestamp from, Timestamp to) const {
  if (to <= from || new_rounds_.empty()) return std::nullopt;
  const auto round_at = [this](Timestamp time) {
    int64_t last = new_rounds_.front().second - 1;
    for (const auto& [first_told, round] : new_rounds_) {
      if (first_told <= time) last = std::max(last, round);
    }
    return last;
  };
  return static_cast<double>(round_at(to) - round_at(from)) / absl::ToDoubleHours(to - from);
}

}  // namespace banyan
