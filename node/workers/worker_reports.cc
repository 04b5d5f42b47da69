#include "node/workers/worker_reports.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/workers/call_subject.h"

namespace banyan {
namespace {

const char* FateUnder(NotFiniteRule rule) {
  switch (rule) {
    case NotFiniteRule::kKeep:
      return "which goes into the sum (aggregation.not_finite is keep)";
    case NotFiniteRule::kSkip:
      return "and has no part in the round (aggregation.not_finite is skip)";
    case NotFiniteRule::kFail:
      break;
  }
  return "which ends the job (aggregation.not_finite is fail)";
}

}  // namespace

std::string NotFinitePushes::Describe(const Push& push) {
  return absl::StrCat("worker ", push.worker.value(), " pushed NaN or infinity in ", push.not_finite, " of ",
                      push.elements, " values");
}

void NotFinitePushes::Note(StepContext& step, const Push& push) {
  ++pushes_;
  const bool has_row = counts_.contains(push.key) || counts_.size() + 1 < NodeReport::kMostNotFinite;
  Count& count = counts_[has_row ? push.key : KeyId()];
  count.values += push.not_finite;
  count.last = std::max(count.last, push.round);
  if (logged_at_.has_value() && step.now - *logged_at_ < kLogInterval) return;
  logged_at_ = step.now;
  std::string text = absl::StrCat(RoundText(push.name, push.round), ": ", Describe(push), ", ", FateUnder(rule_));
  if (pushes_ > 1) absl::StrAppend(&text, "; ", pushes_, " such pushes so far");
  step.Log(LogLevel::kWarning, std::move(text));
}

std::vector<NodeReport::NotFinite> NotFinitePushes::Report() const {
  std::vector<NodeReport::NotFinite> rows;
  for (const auto& [key, count] : counts_) rows.push_back({key, count.values, count.last});
  return rows;
}

// ---- waits ----

void SynchronisationClock::Begin(Timestamp now, int64_t elements) {
  if (open_++ == 0) {
    began_at_ = now;
    elements_ = 0;
  }
  elements_ += elements;
}

void SynchronisationClock::End(Timestamp now) {
  BANYAN_CHECK(open_ > 0);
  if (--open_ > 0) return;
  last_ = {last_.count + 1, elements_, now - began_at_};
}

// ---- the pattern of pushes ----

uint64_t PushPattern::LagBehind(Round round) const {
  size_t at_most_one = 0;
  size_t one = 0;
  for (auto entry = by_round_.rbegin(); entry != by_round_.rend() && entry->first.Next() >= round; ++entry) {
    at_most_one += entry->second;
    if (entry->first.Next() == round) one = entry->second;
  }
  return one + 2 * (keys_.size() - at_most_one);
}

void PushPattern::Leave(Round round) {
  const auto entry = by_round_.find(round);
  if (--entry->second == 0) by_round_.erase(entry);
}

void PushPattern::OnPush(KeyId key, Round round) {
  ++pushes_;
  const auto [entry, is_new] = keys_.try_emplace(key);
  Key& state = entry->second;
  if (!is_new) Leave(state.pushed);
  ++by_round_[round];
  state.pushed = round;
  const uint64_t lag = LagBehind(round);
  if (state.alike > 0 && lag == state.lag) {
    state.alike = std::min(state.alike + 1, kSteady);
    return;
  }
  state.lag = lag;
  state.alike = 1;
  state.since = round;
}

std::vector<NodeReport::Lag> PushPatterns::Report() const {
  std::vector<NodeReport::Lag> lags;
  if (patterns_.empty()) return lags;
  const PushPattern& first = patterns_.begin()->second;
  const size_t keys = first.keys().size();
  if (keys == 0) return lags;
  const size_t count = std::min(keys, NodeReport::kMostLags);
  auto row = std::next(first.keys().begin(), static_cast<ptrdiff_t>(first.steps() * count % keys));
  for (size_t i = 0; i < count; ++i) {
    std::optional<NodeReport::Lag> ahead;
    for (const auto& [worker, pattern] : patterns_) {
      const auto own = pattern.keys().find(row->first);
      if (own == pattern.keys().end() || !own->second.is_steady()) continue;
      if (ahead.has_value() && ahead->lag >= own->second.lag) continue;
      ahead = NodeReport::Lag{row->first, worker, own->second.since, own->second.pushed, own->second.lag};
    }
    if (ahead.has_value()) lags.push_back(*ahead);
    if (++row == first.keys().end()) row = first.keys().begin();
  }
  return lags;
}

}  // namespace banyan
