#include "node/workers/push_pattern.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace banyan {

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
