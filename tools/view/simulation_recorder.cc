#include "tools/view/simulation_recorder.h"

#include <algorithm>
#include <regex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/json_value.h"
#include "core/json_writer.h"
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

bool HasSize(absl::string_view around, absl::string_view name) {
  return around == "memory" || absl::EndsWith(name, "mbps") || absl::EndsWith(name, "bytes") || name == "elements";
}

std::string Scaled(absl::string_view number, int64_t scale) {
  uint64_t whole = 0;
  if (absl::SimpleAtoi(number, &whole)) return absl::StrCat(whole * static_cast<uint64_t>(scale));
  double value = 0;
  BANYAN_CHECK(absl::SimpleAtod(number, &value));
  return JsonWriter().Number(value * static_cast<double>(scale)).text();
}

// What the reasons of policies say of rates, in words.
std::string WithRatesInWords(const std::string& json, int64_t scale) {
  static const std::regex kPromise(R"(([0-9.e+-]+) instead of ([0-9.e+-]+) Mbit/s)");
  std::string text;
  auto rest = json.begin();
  for (std::sregex_iterator match(json.begin(), json.end(), kPromise), end; match != end; ++match) {
    absl::StrAppend(&text, std::string(rest, (*match)[0].first), Scaled((*match)[1].str(), scale), " instead of ",
                    Scaled((*match)[2].str(), scale), " Mbit/s");
    rest = (*match)[0].second;
  }
  return text + std::string(rest, json.end());
}

// Appends the text from `rest` to the end of `value`, with its sizes scaled. `around` is the name of what holds it.
void AppendScaled(const JsonValue& value, absl::string_view around, int64_t scale, const char*& rest,
                  std::string& text) {
  for (const JsonValue& inner : value) AppendScaled(inner, value.name(), scale, rest, text);
  // Those of an array go by its name.
  const absl::string_view name = value.name().empty() ? around : value.name();
  if (value.kind() != JsonValue::Kind::kNumber || !HasSize(around, name)) return;
  absl::StrAppend(&text, absl::string_view(rest, static_cast<size_t>(value.text().data() - rest)),
                  Scaled(value.text(), scale));
  rest = value.text().data() + value.text().size();
}

}  // namespace

std::string AtFullSize(const std::string& json, int64_t scale) {
  std::string text;
  const char* rest = json.data();
  const absl::StatusOr<JsonValue> value = JsonValue::Parse(json);
  BANYAN_CHECK(value.ok());
  AppendScaled(*value, "", scale, rest, text);
  text.append(rest, json.data() + json.size());
  return absl::StrContains(text, " instead of ") ? WithRatesInWords(text, scale) : text;
}

std::unique_ptr<Protocol> SimulationRecorder::Wrap(std::unique_ptr<Protocol> core) {
  return std::make_unique<SchedulerTap>(
      std::move(core),
      SchedulerTap::Options{.take_status = [this](Timestamp now, const std::string& json) { Take(now, json); }});
}

void SimulationRecorder::Take(Timestamp now, const std::string& json) {
  now_ = now;
  // A process's clock begins anywhere.
  if (!start_.has_value()) start_ = next_ = now_;
  WriteTraces();
  if (now_ < next_ || !status_.ok()) return;
  next_ = now_ + interval_;
  if (++statuses_ % kStatusesOfPace == 0) interval_ *= 2;
  status_ = writer_->Add(absl::ToDoubleSeconds(now_ - *start_), AtFullSize(json, scale_));
}

void SimulationRecorder::WriteTraces() {
  if (traces_ == nullptr || !start_.has_value() || !status_.ok()) return;
  for (const RoundChart& chart : traces_->Take()) {
    status_.Update(writer_->AddTrace(absl::ToDoubleSeconds(now_ - *start_), chart));
  }
}

}  // namespace banyan
