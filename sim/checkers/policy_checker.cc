#include "sim/checkers/policy_checker.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

std::string RoundText(KeyId key, Round round) { return absl::StrCat("key ", key.value(), " round ", round.value()); }

std::optional<Term> TermOf(const Message& message) {
  return std::visit(
      [](const auto& m) -> std::optional<Term> {
        if constexpr (requires { m.term; }) {
          return m.term;
        } else {
          return std::nullopt;
        }
      },
      message);
}

}  // namespace

void PolicyChecker::OnSent(const SentMessage& sent) {
  if (sent.from == kSchedulerNode) CheckTerm(sent);
  if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
    CheckAnswer(sent, *answer);
  } else if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
    published_.insert({sent.connection, sent.generation, published->slice.version});
  } else if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    CheckChunk(sent, *chunk);
  } else if (const auto* retired = std::get_if<PoliciesRetired>(&sent.message)) {
    CheckRetired(sent, *retired);
  } else if (const auto* closed = std::get_if<ClosedEverywhere>(&sent.message)) {
    CheckClosed(sent, *closed);
  }
}

void PolicyChecker::OnDelivered(const SentMessage& sent) {
  const auto* closed = std::get_if<RoundsClosed>(&sent.message);
  if (closed == nullptr) return;
  for (const RoundsClosed::Entry& entry : closed->entries) {
    closing_[{entry.key, entry.round}].hashes[sent.from] = entry.hash;
  }
}

void PolicyChecker::CheckTerm(const SentMessage& sent) {
  const std::optional<Term> term = TermOf(sent.message);
  if (!term.has_value()) return;
  if (*term < last_term_) {
    violations_->Add(
        sent.now, "terms rise",
        absl::StrCat(DescribeMessage(sent.message), " has term ", term->value(), " after ", last_term_.value()));
  }
  last_term_ = *term;
}

void PolicyChecker::CheckAnswer(const SentMessage& sent, const PolicyAnswer& answer) {
  for (const PolicyAnswer::Binding& binding : answer.bindings) {
    if (!published_.contains({sent.connection, sent.generation, binding.policy})) {
      violations_->Add(sent.now, "one policy per round",
                       absl::StrCat("node ", sent.to.value(), " is answered with policy ", binding.policy.value(),
                                    ", which it was not sent on this connection"));
    }
    if (binding.policy < oldest_) {
      violations_->Add(sent.now, "retired policies",
                       absl::StrCat(RoundText(binding.key, binding.first_round), " is bound to policy ",
                                    binding.policy.value(), ", those below ", oldest_.value(), " are retired"));
    }
    for (Round round = binding.first_round; round <= binding.last_round; round = round.Next()) {
      const Bound now{binding.policy, answer.epoch, binding.attempt};
      const Bound& before = bound_.try_emplace({binding.key, round}, now).first->second;
      if (before.policy == now.policy && before.epoch == now.epoch && before.attempt == now.attempt) continue;
      violations_->Add(sent.now, "one policy per round",
                       absl::StrCat(RoundText(binding.key, round), " was bound to policy ", before.policy.value(),
                                    " and node ", sent.to.value(), " is told policy ", now.policy.value()));
    }
  }
}

void PolicyChecker::CheckRetired(const SentMessage& sent, const PoliciesRetired& retired) {
  if (retired.oldest < oldest_) {
    violations_->Add(sent.now, "retired policies",
                     absl::StrCat("policies below ", retired.oldest.value(), " are called retired after those below ",
                                  oldest_.value()));
  }
  if (retired.oldest <= oldest_) return;
  oldest_ = retired.oldest;
  for (const auto& [round, bound] : bound_) {
    if (bound.policy >= retired.oldest || closing_[round].hashes.size() == members_) continue;
    violations_->Add(sent.now, "retired policies",
                     absl::StrCat("policies below ", retired.oldest.value(), " are called retired, but ",
                                  RoundText(round.first, round.second), " runs under policy ", bound.policy.value(),
                                  " and is not closed everywhere"));
  }
}

void PolicyChecker::CheckChunk(const SentMessage& sent, const ChunkMessage& chunk) {
  const KeyRound round(chunk.id.key, chunk.id.round);
  const auto bound = bound_.find(round);
  if (bound == bound_.end() || bound->second.policy != chunk.policy || bound->second.epoch != chunk.id.epoch ||
      bound->second.attempt != chunk.id.attempt) {
    violations_->Add(
        sent.now, "one policy per round",
        absl::StrCat("node ", sent.from.value(), " sends ", DescribeMessage(sent.message), " under policy ",
                     chunk.policy.value(), bound == bound_.end() ? " before any answer" : ", not the bound one"));
  }
  const RoundKind kind = kinds_.try_emplace(round, chunk.kind).first->second;
  if (kind != chunk.kind) {
    violations_->Add(sent.now, "one policy per round",
                     absl::StrCat(RoundText(chunk.id.key, chunk.id.round), " is of two kinds"));
  }
}

void PolicyChecker::CheckClosed(const SentMessage& sent, const ClosedEverywhere& closed) {
  for (const ClosedEverywhere::Entry& entry : closed.entries) {
    const Closing& closing = closing_[{entry.key, entry.round}];
    bool equal = true;
    for (const auto& [node, hash] : closing.hashes) equal = equal && hash == closing.hashes.begin()->second;
    if (closing.hashes.size() == members_ && equal) continue;
    violations_->Add(sent.now, "closed everywhere",
                     absl::StrCat(RoundText(entry.key, entry.round), " is called closed after ", closing.hashes.size(),
                                  " of ", members_, " members held it", equal ? "" : " with different results"));
  }
}

}  // namespace banyan
