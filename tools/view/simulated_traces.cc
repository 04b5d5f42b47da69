#include "tools/view/simulated_traces.h"

#include <algorithm>

#include "absl/time/time.h"
#include "tracing/job_trace.h"

namespace banyan {
namespace {

using Step = RoundRecords::Step;

// Appends the rows from `begin` on that are wanted.
template <typename Row, typename IsWanted>
void AddRows(const std::vector<Row>& rows, size_t begin, const IsWanted& is_wanted, std::vector<Row>& to) {
  std::copy_if(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(), std::back_inserter(to), is_wanted);
}

}  // namespace

SimulatedTraces::SimulatedTraces(Options options) : options_(std::move(options)), chosen_(Choose(options_.rounds)) {}

std::vector<Round> SimulatedTraces::Choose(uint64_t rounds) {
  std::vector<Round> chosen;
  for (uint64_t round = 1; round <= std::min(rounds, kFirst); ++round) chosen.emplace_back(round);
  const uint64_t rest = rounds - std::min(rounds, kFirst);
  const uint64_t others = std::min(rest, kMost - kFirst);
  // The last one is among them.
  for (uint64_t i = 1; i <= others; ++i) chosen.emplace_back(kFirst + i * rest / others);
  return chosen;
}

std::vector<RoundChart> SimulatedTraces::Take() {
  std::vector<RoundChart> charts;
  if (too_large_.has_value() || next_ == chosen_.size()) return charts;
  for (auto& [node, recorder] : *options_.recorders) Read(node, recorder);
  if (too_large_.has_value()) return charts;
  size_t end = chosen_.size();
  while (end > next_ && !IsComplete(chosen_[end - 1])) --end;
  if (end == next_) return charts;
  const JobTrace trace = MakeJobTrace(records_, options_.names, options_.scale);
  for (; next_ < end; ++next_) {
    if (!IsComplete(chosen_[next_])) continue;
    charts.push_back(MakeRoundChart(trace, {}, chosen_[next_]));
    if (!charts.back().round.has_value()) charts.pop_back();
  }
  Forget(chosen_[end - 1]);
  return charts;
}

bool SimulatedTraces::IsWanted(Round round) const {
  return std::binary_search(chosen_.begin() + static_cast<std::ptrdiff_t>(next_), chosen_.end(), round);
}

void SimulatedTraces::Read(NodeId node, RoundRecorder& recorder) {
  if (too_large_.has_value()) return;
  if (recorder.records().left_out > 0 || records_[node].size() > options_.most_records) return GiveUp();
  Place& place = places_[node];
  if (options_.keeps_records) {
    const RoundRecords& all = recorder.records();
    records_[node].clocks.clear();
    Add(node, all, place);
    place = {all.arrivals.size(), all.departures.size(), all.moments.size()};
  } else {
    Add(node, recorder.End(), place);
    recorder.Begin(Round(1), chosen_.back(), options_.most_records);
  }
}

void SimulatedTraces::Add(NodeId node, const RoundRecords& records, const Place& from) {
  RoundRecords& kept = records_[node];
  const auto is_wanted = [this](const auto& row) { return IsWanted(row.journey.round); };
  AddRows(records.arrivals, from.arrivals, is_wanted, kept.arrivals);
  AddRows(records.departures, from.departures, is_wanted, kept.departures);
  for (size_t i = from.moments; i < records.moments.size(); ++i) {
    const RoundRecords::Moment& moment = records.moments[i];
    const bool is_chosen = IsWanted(moment.round);
    const bool is_end = moment.step == Step::kCompleted;
    if (is_chosen && is_end) completed_[moment.round].insert({node, moment.key});
    // The end of the round before tells since when a node could begin.
    if (is_chosen || (is_end && IsWanted(moment.round.Next()))) kept.moments.push_back(moment);
  }
  AddRows(
      records.clocks, 0, [](const auto&) { return true; }, kept.clocks);
  if (kept.clocks.size() <= RoundRecorder::kMostClocks) return;
  kept.clocks.erase(kept.clocks.begin(), kept.clocks.begin() + static_cast<std::ptrdiff_t>(kept.clocks.size() / 2));
}

bool SimulatedTraces::IsComplete(Round round) const {
  const auto found = completed_.find(round);
  return found != completed_.end() && found->second.size() == options_.names.size() * options_.keys;
}

void SimulatedTraces::Forget(Round last) {
  completed_.erase(completed_.begin(), completed_.upper_bound(last));
  for (auto& [node, kept] : records_) {
    std::erase_if(kept.arrivals, [last](const auto& row) { return row.journey.round <= last; });
    std::erase_if(kept.departures, [last](const auto& row) { return row.journey.round <= last; });
    std::erase_if(kept.moments, [last](const auto& row) {
      return row.round < last || (row.round == last && row.step != Step::kCompleted);
    });
  }
}

void SimulatedTraces::GiveUp() {
  too_large_ = chosen_[next_];
  records_.clear();
  completed_.clear();
  if (options_.keeps_records) return;
  for (auto& [node, recorder] : *options_.recorders) recorder.End();
}

}  // namespace banyan
