#include "scheduler/precision/round_forecast.h"

#include <algorithm>
#include <utility>

#include "scheduler/state/low_bit_chunks.h"

namespace banyan {
namespace {

// What the scheduling of one chunk at one node takes, about half a microsecond at each of some five stations, as memory
// that is read and written at kSumBytesPerSecond.
constexpr double kBytesPerVisit = 2.5e-6 * kSumBytesPerSecond;

// Bits of an element of the root's decision on so many votes (compression/counts/vote_frame.h); of a mean they are the
// counts.
double ResultBits(const VoteRules& rules, double voters) {
  if (rules.aggregate == VoteAggregate::kMean) return BitsOfVotes(voters, HasZeroVotes(rules));
  return rules.family == LowBitFamily::kBinary && rules.tie == TieRule::kPositive ? 1 : 2;
}

}  // namespace

RoundForecast::RoundForecast(Policy policy, NetworkView view, const VoteRules& rules,
                             std::vector<RoundWork::Processor> processors, std::vector<GuardedSize> sizes)
    : policy_(std::move(policy)),
      view_(std::move(view)),
      rules_(rules),
      processors_(std::move(processors)),
      sizes_(std::move(sizes)) {}

void RoundForecast::Run() {
  for (const GuardedSize& size : sizes_) predictions_[size] = Predict(size);
}

RoundForecast::Prediction RoundForecast::Predict(const GuardedSize& size) const {
  const PlannedTensor tensor(size.elements, size.element_bytes);
  RoundWork work;
  work.processors = processors_;
  const TensorRound full = PredictRoundOf(policy_, view_, tensor, work);
  work.is_low_bit = true;
  work.has_zero_votes = HasZeroVotes(rules_);
  double voters = 0;
  for (const RoundWork::Processor& processor : processors_) voters += processor.workers;
  // What earlier votes have left is read and written too (node/votes/vote_computations.h).
  work.cast_passes = rules_.aggregate == VoteAggregate::kMean ? 4 : 2;
  work.result_bits = ResultBits(rules_, voters);
  Policy low_bit = policy_;
  low_bit.chunk_max_elements = LowBitChunk(size.elements, policy_.chunk_max_elements);
  return {PredictRoundOf(low_bit, view_, tensor, work), full};
}

int64_t RoundForecast::size_bytes() const {
  double visits = 0;
  for (const GuardedSize& size : sizes_) {
    const int64_t chunks = std::min(size.elements / policy_.chunk_max_elements + 1, kScheduledChunks);
    // Each tree is built once, for votes and for floats.
    visits += 2 * static_cast<double>(view_.nodes().size()) *
              (static_cast<double>(chunks) + static_cast<double>(policy_.trees.size()));
  }
  return static_cast<int64_t>(kBytesPerVisit * visits);
}

}  // namespace banyan
