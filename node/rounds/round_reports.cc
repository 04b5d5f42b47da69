#include "node/rounds/round_reports.h"

namespace banyan {

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
  uint64_t next_residuals = 0;
  for (const auto& [key, of_key] : keys) {
    const TensorMemory::Sizes sizes = of_key.memory.sizes();
    replicas += sizes.replica_bytes;
    residuals += sizes.residual_bytes;
    weights += sizes.weights_bytes;
    optimizers += sizes.optimizer_bytes;
    for (const auto& [round, state] : of_key.rounds.all()) {
      if (state.contribution.has_value()) contributions += state.contribution->values.size_bytes();
      if (state.attempt.has_value()) sums += state.attempt->sum_bytes();
      if (state.results.has_value()) results += state.results->size_bytes();
      next_residuals += state.residuals.size_bytes();
    }
  }
  return {{"contributions", contributions},
          {"sums", sums},
          {"results", results},
          {"replicas", replicas},
          {"residuals", residuals},
          {"next residuals", next_residuals},
          {"weights", weights},
          {"optimizer", optimizers}};
}

}  // namespace banyan
