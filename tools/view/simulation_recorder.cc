#include "tools/view/simulation_recorder.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/match.h"
#include "proto/field_json.h"
#include "tools/page/scheduler_tap.h"
#include "tracing/job_trace.h"

namespace banyan {

// --- traces of some rounds ---

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

// --- the recorder ---

namespace {

// Multiplies what is a rate, a number of bytes or of elements by its name.
class Scaler {
 public:
  static constexpr bool kReads = false;

  explicit Scaler(int64_t scale) : scale_(scale) {}

  template <typename Member, typename... Limits>
  void operator()(int, absl::string_view name, Member& member, Limits...) {
    const bool is_size =
        name == "memory" || name == "elements" || absl::EndsWith(name, "mbps") || absl::EndsWith(name, "bytes");
    Visit(is_size, member);
  }
  template <typename Member, typename... Limits>
  void operator()(int number, const char* name, UnlessDefault<Member> wrapped, Limits...) {
    (*this)(number, name, wrapped.member);
  }

 private:
  template <typename Member>
  void Visit(bool is_size, Member& member) {
    if constexpr (kIsOptional<Member>) {
      if (member.has_value()) Visit(is_size, *member);
    } else if constexpr (kIsList<Member>) {
      for (auto& entry : member) Visit(is_size, entry);
    } else if constexpr (kIsNamed<Member>) {
      Visit(is_size, member.value);
    } else if constexpr (std::is_same_v<Member, uint64_t> || std::is_same_v<Member, double>) {
      if (is_size) member *= static_cast<Member>(scale_);
    } else if constexpr (!std::is_arithmetic_v<Member> && !std::is_same_v<Member, std::string>) {
      Fields(*this, member);
    }
  }

  const int64_t scale_;
};

}  // namespace

JobStatus AtFullSize(JobStatus status, int64_t scale) {
  Scaler scaler(scale);
  Fields(scaler, status);
  return status;
}

std::unique_ptr<Protocol> SimulationRecorder::Wrap(std::unique_ptr<Protocol> core) {
  return std::make_unique<SchedulerTap>(
      std::move(core),
      SchedulerTap::Options{.take_status = [this](Timestamp now, JobStatus status) { Take(now, std::move(status)); }});
}

void SimulationRecorder::Take(Timestamp now, JobStatus status) {
  now_ = now;
  // A process's clock begins anywhere.
  if (!start_.has_value()) start_ = next_ = now_;
  WriteTraces();
  if (now_ < next_ || !status_.ok()) return;
  next_ = now_ + interval_;
  if (++statuses_ % kStatusesOfPace == 0) interval_ *= 2;
  status_ = writer_->Add(absl::ToDoubleSeconds(now_ - *start_), AtFullSize(std::move(status), scale_));
}

void SimulationRecorder::WriteTraces() {
  if (traces_ == nullptr || !start_.has_value() || !status_.ok()) return;
  for (const RoundChart& chart : traces_->Take()) {
    status_.Update(writer_->AddTrace(absl::ToDoubleSeconds(now_ - *start_), chart));
  }
}

}  // namespace banyan
