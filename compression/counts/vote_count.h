// The votes of some voters on the elements of a chunk, as exact counts with the sum of their scales. Counts of
// different voters add in any order and any grouping to the same bits. They take as many bits per element as their
// weight needs, and widen as they add up. Values; thread-compatible.
//
// Invariants:
// - votes_for() and, where there are zero votes, votes_against() are at most weight() together, for each element.
// - Bits after the last element are zero.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_COUNT_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_COUNT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compression/counts/count_planes.h"
#include "compression/counts/scale_sum.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

// Returns the scale of a slice: the mean magnitude of its values, 0 without any; a not-a-number where it is not finite.
float SliceScale(absl::Span<const float> values);

class VoteCount {
 public:
  // Nobody's votes.
  VoteCount(int64_t elements, bool has_zero_votes);
  // One voter's, on the `values` of a chunk whose slice has the scale `scale`.
  static VoteCount OfVoter(absl::Span<const float> values, float scale, const VoteRules& rules);
  // Of planes as another process wrote them: those for, then those against. INVALID_ARGUMENT where they break an
  // invariant of this class. REQUIRES: as many planes as `elements`, `weight` and `has_zero_votes` make.
  static absl::StatusOr<VoteCount> OfPlanes(int64_t elements, bool has_zero_votes, int64_t weight, ScaleSum scales,
                                            std::vector<uint64_t> planes);
  // The same of planes that are known to break none.
  static VoteCount OfCheckedPlanes(int64_t elements, bool has_zero_votes, int64_t weight, ScaleSum scales,
                                   std::vector<uint64_t> planes);
  // The sum of all. REQUIRES: at least one, of one kind and size, with at most kMaxVotes votes together.
  static VoteCount SumOf(absl::Span<const VoteCount* const> counts);

  // REQUIRES: as SumOf does.
  void Add(const VoteCount& other);

  int64_t elements() const { return elements_; }
  bool has_zero_votes() const { return has_zero_votes_; }
  int64_t weight() const { return weight_; }
  const ScaleSum& scales() const { return scales_; }

  // Bits of a number; half of bits_per_element() where there are zero votes.
  int width() const { return CountWidth(weight_); }
  int bits_per_element() const { return width() * (has_zero_votes_ ? 2 : 1); }
  int64_t words() const { return PlaneWords(elements_); }
  CountView votes_for() const { return {planes_.data(), width()}; }
  // REQUIRES: has_zero_votes().
  CountView votes_against() const { return {planes_.data() + width() * words(), width()}; }
  const std::vector<uint64_t>& planes() const { return planes_; }

  bool operator==(const VoteCount& other) const;

 private:
  int64_t elements_;
  bool has_zero_votes_;
  int64_t weight_ = 0;
  ScaleSum scales_;
  std::vector<uint64_t> planes_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_COUNT_H_
