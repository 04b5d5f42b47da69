#include "node/rounds/round_reports.h"

#include <algorithm>

namespace banyan {

bool IsAbstaining(const KeyStates& keys) {
  return std::any_of(keys.begin(), keys.end(), [](const auto& key) {
    const KeyState& of_key = key.second;
    return of_key.abstention.is_on() || of_key.rounds.HasAbstention();
  });
}

bool HasBroadcastValues(const KeyStates& keys) {
  return std::any_of(keys.begin(), keys.end(), [](const auto& key) { return key.second.rounds.HasBroadcastValues(); });
}

bool IsIdle(const KeyStates& keys) {
  return std::all_of(keys.begin(), keys.end(), [](const auto& key) { return key.second.rounds.IsIdle(); });
}

std::vector<EpochReport::Progress> ProgressOf(const KeyStates& keys, const std::map<KeyId, KeySlice>& table,
                                              absl::FunctionRef<bool(KeyId)> counts) {
  std::vector<EpochReport::Progress> runs;
  for (const auto& [key, row] : table) {
    if (!counts(key)) continue;
    const auto known = keys.find(key);
    const Round next = known == keys.end() ? Round(0) : known->second.rounds.next_complete();
    const bool goes_on = !runs.empty() && runs.back().last_key.Next() == key && runs.back().next == next;
    if (!goes_on) runs.push_back({key, key, next});
    runs.back().last_key = key;
  }
  return runs;
}

std::vector<RoundsClosed::Entry> CompleteRoundsOf(const KeyStates& keys) {
  std::vector<RoundsClosed::Entry> complete;
  for (const auto& [key, of_key] : keys) {
    for (const auto& [round, state] : of_key.rounds.all()) {
      if (state.complete && !state.closed_everywhere) complete.push_back({key, round, state.hash});
    }
  }
  return complete;
}

std::vector<NodeReport::Memory> MemoryOf(const KeyStates& keys) {
  uint64_t contributions = 0, sums = 0, results = 0, replicas = 0, residuals = 0, weights = 0, optimizers = 0;
  uint64_t next_residuals = 0, sent = 0;
  for (const auto& [key, of_key] : keys) {
    const TensorMemory::Sizes sizes = of_key.memory.sizes();
    replicas += sizes.replica_bytes;
    if (of_key.fetched.has_value()) replicas += of_key.fetched->second.size_bytes();
    residuals += sizes.residual_bytes;
    weights += sizes.weights_bytes;
    optimizers += sizes.optimizer_bytes;
    for (const auto& [round, state] : of_key.rounds.all()) {
      if (state.contribution.has_value()) contributions += state.contribution->size_bytes();
      if (state.attempt.has_value()) sums += state.attempt->sum_bytes();
      if (state.results.has_value()) results += state.results->size_bytes();
      next_residuals += state.residuals.size_bytes() + state.votes.size_bytes();
      sent += state.sent.size_bytes();
    }
  }
  return {{"contributions", contributions},
          {"sums", sums},
          {"results", results},
          {"replicas", replicas},
          {"residuals", residuals},
          {"next residuals", next_residuals},
          {"sent sums", sent},
          {"weights", weights},
          {"optimizer", optimizers}};
}

}  // namespace banyan
