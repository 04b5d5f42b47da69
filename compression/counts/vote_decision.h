// What the root makes of all votes on a chunk, once: it goes down to every member as it is. One bit per element where
// no result is zero, two where some are; with VoteAggregate::kMean the counts themselves. Immutable value;
// thread-compatible.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_DECISION_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_DECISION_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_count.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// What one vote more is worth in a mean of the votes of `weight` voters.
inline float StepOfMean(float scale, int64_t weight) {
  return scale / static_cast<float>(std::max<int64_t>(weight, 1));
}

class VoteDecision {
 public:
  // Decides on the votes of `count` as `rules` say. Without a voter all results are zero.
  VoteDecision(const VoteCount& count, const VoteRules& rules);
  // Of a plane of the elements above zero; `below` is that of those below it, and nothing where those are all others.
  // REQUIRES: PlaneWords(elements) words each, no element in both.
  static VoteDecision OfSigns(int64_t elements, float scale, std::vector<uint64_t> above,
                              std::optional<std::vector<uint64_t>> below);
  // Of counts whose mean is the result.
  static VoteDecision OfCounts(VoteCount count);

  int64_t elements() const { return elements_; }
  // The mean scale of the voters.
  float scale() const { return scale_; }
  // As planes of bits have it, without the scale.
  int bits_per_element() const;

  // Writes the aggregate: scale times the direction of each element. REQUIRES: values.size() == elements().
  void WriteTo(absl::Span<float> values) const;

  // Empty where the result is a mean of counts.
  const std::vector<uint64_t>& above() const { return above_; }
  const std::optional<std::vector<uint64_t>>& below() const { return below_; }
  const std::optional<VoteCount>& counts() const { return counts_; }

 private:
  VoteDecision(int64_t elements, float scale) : elements_(elements), scale_(scale) {}

  void Decide(const VoteCount& count, const VoteRules& rules);
  void DecideWithZeroVotes(const VoteCount& count, int64_t margin);
  void DecideWithout(const VoteCount& count, int64_t margin, TieRule tie);

  int64_t elements_;
  float scale_;
  std::vector<uint64_t> above_;
  std::optional<std::vector<uint64_t>> below_;
  std::optional<VoteCount> counts_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_DECISION_H_
