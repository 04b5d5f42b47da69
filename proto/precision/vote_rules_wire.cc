#include "proto/precision/vote_rules_wire.h"

namespace banyan {
namespace {

// Times the mean magnitude of a slice: beyond it hardly anything is left to vote on.
constexpr double kMostSenderThreshold = 1e3;

static_assert(static_cast<int>(LowBitFamily::kTernary) == wire::LOW_BIT_FAMILY_TERNARY);
static_assert(static_cast<int>(ZeroGate::kResult) == wire::ZERO_GATE_RESULT);
static_assert(static_cast<int>(VoteAggregate::kMean) == wire::VOTE_AGGREGATE_MEAN);
static_assert(static_cast<int>(TieRule::kPositive) == wire::TIE_RULE_POSITIVE);

}  // namespace

void WriteVoteRules(const VoteRules& from, wire::VoteRules& to) {
  to.set_family(static_cast<wire::LowBitFamily>(from.family));
  to.set_gate(static_cast<wire::ZeroGate>(from.gate));
  to.set_sender_threshold(from.sender_threshold);
  to.set_result_margin(from.result_margin);
  to.set_aggregate(static_cast<wire::VoteAggregate>(from.aggregate));
  to.set_tie(static_cast<wire::TieRule>(from.tie));
}

VoteRules ReadVoteRules(const wire::VoteRules& from, FieldReader fields) {
  VoteRules rules;
  rules.family = fields.OneOf("family", from.family(), kLastLowBitFamily);
  rules.gate = fields.OneOf("gate", from.gate(), kLastZeroGate);
  rules.sender_threshold = fields.FiniteBetween("sender_threshold", from.sender_threshold(), 0, kMostSenderThreshold);
  rules.result_margin = fields.FiniteBetween("result_margin", from.result_margin(), 0, 1);
  rules.aggregate = fields.OneOf("aggregate", from.aggregate(), kLastVoteAggregate);
  rules.tie = fields.OneOf("tie", from.tie(), kLastTieRule);
  return rules;
}

}  // namespace banyan
