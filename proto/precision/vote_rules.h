// How gradients of one or two bits are voted and decided: the formats G-Binary and G-Ternary of NEURON-Fabric (Wang,
// Huang and Lung, 2026), and what that paper leaves open as settings. Plain values.
#ifndef BANYAN_PROTO_PRECISION_VOTE_RULES_H_
#define BANYAN_PROTO_PRECISION_VOTE_RULES_H_

#include <cstdint>

#include "proto/fields.h"

namespace banyan {

// What a voter says of an element. G-Binary: whether it is above zero. G-Ternary: that it is above zero, below, or
// neither.
enum class LowBitFamily : uint8_t { kBinary, kTernary };
inline constexpr LowBitFamily kLastLowBitFamily = LowBitFamily::kTernary;

// Where G-Ternary makes zeros: each voter leaves out its own small values, or the root leaves out votes that are close.
enum class ZeroGate : uint8_t { kSender, kResult };
inline constexpr ZeroGate kLastZeroGate = ZeroGate::kResult;

// What the root makes of the counts. kMajority: the mean scale with the sign of the majority, as the paper has it.
// kMean: the mean scale times (votes for - votes against) / voters; linear, so that error feedback accounts exactly.
enum class VoteAggregate : uint8_t { kMajority, kMean };
inline constexpr VoteAggregate kLastVoteAggregate = VoteAggregate::kMean;

// What becomes of as many votes for as against. Zero favours nobody; a plus keeps G-Binary's result at one bit.
enum class TieRule : uint8_t { kZero, kPositive };
inline constexpr TieRule kLastTieRule = TieRule::kPositive;

struct VoteRules {
  LowBitFamily family = LowBitFamily::kBinary;
  ZeroGate gate = ZeroGate::kSender;  // G-Ternary
  // With kSender a voter votes zero for |g| <= sender_threshold * mean |g| of the slice. 0.7 is what ternary weight
  // networks take (Li, Zhang and Liu, 2016).
  double sender_threshold = 0.7;
  // With kResult the root decides zero where |votes for - votes against| <= result_margin * voters. With kSender it
  // is left at 0, so that a tie alone gives zero.
  double result_margin = 0.34;
  VoteAggregate aggregate = VoteAggregate::kMajority;
  TieRule tie = TieRule::kZero;  // G-Binary with kMajority

  friend bool operator==(const VoteRules&, const VoteRules&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, VoteRules& m) {
  v(1, "family", m.family, UpTo{kLastLowBitFamily});
  v(2, "gate", m.gate, UpTo{kLastZeroGate});
  // Times the mean magnitude of a slice: beyond it hardly anything is left to vote on.
  v(3, "sender_threshold", m.sender_threshold, Range{0.0, 1e3});
  v(4, "result_margin", m.result_margin, Range{0.0, 1.0});
  v(5, "aggregate", m.aggregate, UpTo{kLastVoteAggregate});
  v(6, "tie", m.tie, UpTo{kLastTieRule});
}

// Returns whether voters vote zero at all, so that votes against have counts of their own.
inline bool HasZeroVotes(const VoteRules& rules) {
  return rules.family == LowBitFamily::kTernary && rules.gate == ZeroGate::kSender;
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PRECISION_VOTE_RULES_H_
