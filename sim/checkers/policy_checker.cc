#include "sim/checkers/policy_checker.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

std::string RoundText(KeyId key, Round round) { return absl::StrCat("key ", key.value(), " round ", round.value()); }

}  // namespace

void PolicyChecker::OnSent(const SentMessage& sent) {
  if (std::holds_alternative<JoinAccepted>(sent.message)) ForgetFormerStart(sent.to);
  if (const auto* answer = std::get_if<PolicyAnswer>(&sent.message)) {
    CheckAnswer(sent, *answer);
  } else if (const auto* plan = std::get_if<EpochPlan>(&sent.message)) {
    CheckPlan(sent, *plan);
  } else if (const auto* begin = std::get_if<EpochBegin>(&sent.message)) {
    epoch_ = std::max(epoch_, begin->epoch);
  } else if (const auto* published = std::get_if<PolicyPublished>(&sent.message)) {
    published_.insert({sent.connection, sent.generation, published->slice.version});
  } else if (const auto* chunk = std::get_if<ChunkMessage>(&sent.message)) {
    // No round is bound for a training state.
    if (chunk->id.half != Half::kState) CheckChunk(sent, *chunk);
  } else if (const auto* retired = std::get_if<PoliciesRetired>(&sent.message)) {
    CheckRetired(sent, *retired);
  } else if (const auto* closed = std::get_if<ClosedEverywhere>(&sent.message)) {
    CheckClosed(sent, *closed);
  }
}

void PolicyChecker::OnDelivered(const SentMessage& sent) {
  if (const auto* closed = std::get_if<RoundsClosed>(&sent.message)) {
    for (const RoundsClosed::Entry& entry : closed->entries) TakeHeld(sent.from, entry);
  } else if (const auto* bound = std::get_if<CutBound>(&sent.message)) {
    std::map<KeyId, Round>& promised = promises_[bound->epoch][{bound->term, bound->cut}][sent.from];
    for (const CutBound::Entry& entry : bound->rounds) promised[entry.key] = entry.round;
  } else if (const auto* report = std::get_if<EpochReport>(&sent.message)) {
    std::map<KeyRun, Round>& runs = reports_[{report->epoch, sent.from}];
    runs.clear();
    for (const EpochReport::Progress& run : report->progress) runs[{run.first_key, run.last_key}] = run.next;
  }
}

void PolicyChecker::TakeHeld(NodeId node, const RoundsClosed::Entry& entry) {
  const KeyRun run(entry.key, KeyId(entry.key.value() + entry.more_keys));
  for (KeyId key = run.first; key <= run.second; key = key.Next()) {
    closing_[{key, entry.round}].hashes[node] = {run, entry.hash};
  }
}

void PolicyChecker::OnProcessStarted(Timestamp /*now*/, NodeId process) { started_again_.insert(process); }

// A node's results end with it, but until then the scheduler cannot know.
void PolicyChecker::ForgetFormerStart(NodeId node) {
  if (started_again_.erase(node) == 0) return;
  for (auto& [round, closing] : closing_) closing.hashes.erase(node);
}

void PolicyChecker::CheckPublished(const SentMessage& sent, PolicyVersion policy, KeyId key, Round first_round) {
  if (!published_.contains({sent.connection, sent.generation, policy})) {
    violations_->Add(sent.now, "one policy per round",
                     absl::StrCat("node ", sent.to.value(), " is answered with policy ", policy.value(),
                                  ", which it was not sent on this connection"));
  }
  if (policy < oldest_) {
    violations_->Add(sent.now, "retired policies",
                     absl::StrCat(RoundText(key, first_round), " is bound to policy ", policy.value(), ", those below ",
                                  oldest_.value(), " are retired"));
  }
}

void PolicyChecker::Bind(const SentMessage& sent, Epoch epoch, Term term, const PolicyAnswer::Binding& now) {
  epoch_ = std::max(epoch_, epoch);
  const std::optional<BoundLeases::Conflict> conflict = bound_[{epoch, now.key}].Bind(
      now.first_round, now.last_round, {now.policy, now.attempt, now.route}, term, [&](Round first) {
        return CutOf(epoch, {now.key, first});
      });
  if (!conflict.has_value()) return;
  violations_->Add(
      sent.now, "one policy per round",
      absl::StrCat(RoundText(now.key, conflict->round), " was bound to policy ", conflict->before.value(), " and node ",
                   sent.to.value(), " is told policy ", now.policy.value(), " in epoch ", epoch.value()));
}

BoundLeases::Cut PolicyChecker::CutOf(Epoch epoch, const KeyRound& round) const {
  const auto cuts = promises_.find(epoch);
  if (cuts == promises_.end()) return {};
  const auto last = std::find_if(cuts->second.rbegin(), cuts->second.rend(),
                                 [&](const auto& cut) { return IsPromised(epoch, cut.second, round); });
  return last == cuts->second.rend() ? BoundLeases::Cut() : last->first;
}

bool PolicyChecker::IsPromised(Epoch epoch, const Promises& promises, const KeyRound& round) const {
  const bool are_all_before = std::all_of(promises.begin(), promises.end(), [&round](const auto& of_node) {
    const auto begun = of_node.second.find(round.first);
    return begun == of_node.second.end() || begun->second <= round.second;
  });
  const std::optional<std::set<NodeId>> members = membership_ == nullptr ? std::nullopt : membership_->MembersOf(epoch);
  if (!members.has_value()) return are_all_before && promises.size() >= members_;
  return are_all_before &&
         std::all_of(members->begin(), members->end(), [&](NodeId node) { return promises.contains(node); });
}

void PolicyChecker::CheckAnswer(const SentMessage& sent, const PolicyAnswer& answer) {
  for (const PolicyAnswer::Binding& binding : answer.bindings) {
    CheckPublished(sent, binding.policy, binding.key, binding.first_round);
    Bind(sent, answer.epoch, answer.term, binding);
  }
}

void PolicyChecker::CheckPlan(const SentMessage& sent, const EpochPlan& plan) {
  epoch_ = std::max(epoch_, plan.epoch);
  for (const EpochPlan::Frontier& frontier : plan.frontiers) {
    CheckFrontier(sent, plan, frontier);
    for (KeyId key = frontier.first_key; key <= frontier.last_key; key = key.Next()) {
      Round& first_open = first_open_[{key, plan.epoch}];
      first_open = std::max(first_open, frontier.first_open);
    }
  }
  for (const EpochPlan::Binding& binding : plan.bindings) {
    CheckPublished(sent, plan.policy, binding.first_key, binding.first_round);
    for (KeyId key = binding.first_key; key <= binding.last_key; key = key.Next()) {
      Bind(sent, plan.epoch, plan.term,
           {key, binding.first_round, binding.last_round, plan.policy, binding.attempt, 0, binding.route});
      for (Round round = binding.first_round; round <= binding.last_round; round = round.Next()) {
        if (!IsClosed({key, round})) continue;
        violations_->Add(sent.now, "frontiers",
                         absl::StrCat("the plan of epoch ", plan.epoch.value(), " binds ", RoundText(key, round),
                                      " anew, which is closed everywhere"));
      }
    }
  }
}

void PolicyChecker::CheckFrontier(const SentMessage& sent, const EpochPlan& plan, const EpochPlan::Frontier& frontier) {
  const auto complain = [&](const std::string& what) {
    violations_->Add(
        sent.now, "frontiers",
        absl::StrCat("the plan of epoch ", plan.epoch.value(), " opens keys ", frontier.first_key.value(), " to ",
                     frontier.last_key.value(), " from round ", frontier.first_open.value(), " on, ", what));
  };
  // A later one may have closed before it, and is opened again with it.
  for (const auto& [round, closing] : closing_) {
    const bool is_meant = frontier.first_key <= round.first && round.first <= frontier.last_key;
    if (is_meant && closing.is_closed && round.second == frontier.first_open) {
      return complain(absl::StrCat("but ", RoundText(round.first, round.second), " is closed everywhere"));
    }
  }
  for (const auto& [who, runs] : reports_) {
    // Nodes that join hold nothing, and need not.
    const std::optional<Epoch> joined = membership_ == nullptr ? std::nullopt : membership_->JoinedIn(who.second);
    if (who.first != plan.epoch || !joined.has_value() || *joined >= plan.epoch) continue;
    if (!membership_->IsMember(who.second, plan.epoch)) continue;
    for (const auto& [keys, next] : runs) {
      const bool overlaps = keys.first <= frontier.last_key && frontier.first_key <= keys.second;
      if (!overlaps || next >= frontier.first_open) continue;
      const KeyRound lacked(std::max(keys.first, frontier.first_key), next);
      // A scheduler that has started again knows from its records what it has not said yet.
      if (IsClosed(lacked, plan.epoch) || IsHeldByAll(lacked)) continue;
      complain(absl::StrCat("but node ", who.second.value(), " lacks ", RoundText(lacked.first, lacked.second)));
    }
  }
}

bool PolicyChecker::IsClosed(const KeyRound& round, Epoch before) const {
  const auto closing = closing_.find(round);
  if (closing != closing_.end() && closing->second.is_closed) return true;
  return std::any_of(first_open_.lower_bound({round.first, Epoch()}), first_open_.lower_bound({round.first, before}),
                     [&](const auto& plan) { return round.second < plan.second; });
}

bool PolicyChecker::IsHeldByAll(const KeyRound& round) const {
  const auto closing = closing_.find(round);
  if (closing == closing_.end()) return false;
  const auto& hashes = closing->second.hashes;
  const std::optional<std::set<NodeId>> members =
      membership_ == nullptr ? std::nullopt : membership_->MembersOf(membership_->epoch());
  if (!members.has_value()) return hashes.size() >= members_;
  return std::all_of(members->begin(), members->end(), [&](NodeId node) { return hashes.contains(node); });
}

void PolicyChecker::CheckRetired(const SentMessage& sent, const PoliciesRetired& retired) {
  if (retired.oldest < oldest_) {
    violations_->Add(sent.now, "retired policies",
                     absl::StrCat("policies below ", retired.oldest.value(), " are called retired after those below ",
                                  oldest_.value()));
  }
  if (retired.oldest <= oldest_) return;
  oldest_ = retired.oldest;
  // Bindings of earlier epochs are void as soon as another one has begun.
  if (membership_ != nullptr) epoch_ = std::max(epoch_, membership_->begun());
  for (auto entry = bound_.lower_bound({epoch_, KeyId()}); entry != bound_.end(); ++entry) {
    for (const auto& [first, lease] : entry->second.leases()) {
      if (lease.bound.policy >= retired.oldest) continue;
      for (Round round = first; round <= lease.last; round = round.Next()) {
        const KeyRound of_key(entry->first.second, round);
        // A cut may be durable whose end nobody has heard of yet: members wait for another policy then.
        const bool is_cut = lease.cut < CutOf(entry->first.first, of_key);
        if (is_cut || IsClosed(of_key) || IsHeldByAll(of_key)) continue;
        violations_->Add(sent.now, "retired policies",
                         absl::StrCat("policies below ", retired.oldest.value(), " are called retired, but ",
                                      RoundText(entry->first.second, round), " runs under policy ",
                                      lease.bound.policy.value(), " and is not closed everywhere"));
      }
    }
  }
}

void PolicyChecker::CheckChunk(const SentMessage& sent, const ChunkMessage& chunk) {
  const KeyRound round(chunk.id.key, chunk.id.round);
  const std::optional<BoundLeases::Bound> bound = bound_[{chunk.id.epoch, chunk.id.key}].Use(chunk.id.round);
  if (!bound.has_value() || bound->policy != chunk.policy || bound->attempt != chunk.id.attempt) {
    violations_->Add(
        sent.now, "one policy per round",
        absl::StrCat("node ", sent.from.value(), " sends ", DescribeMessage(sent.message), " under policy ",
                     chunk.policy.value(), !bound.has_value() ? " before any answer" : ", not the bound one"));
  }
  if (chunk.kind == RoundKind::kAbstention) return;
  const RoundKind kind = kinds_.try_emplace({chunk.id.epoch, round}, chunk.kind).first->second;
  if (kind != chunk.kind) {
    violations_->Add(sent.now, "one policy per round",
                     absl::StrCat(RoundText(chunk.id.key, chunk.id.round), " is of two kinds"));
  }
}

void PolicyChecker::CheckClosed(const SentMessage& sent, const ClosedEverywhere& closed) {
  for (const ClosedEverywhere::Entry& entry : closed.entries) {
    const KeyRound round(entry.key, entry.round);
    Closing& closing = closing_[round];
    // What was held only by those who have fallen out may be made again, of others.
    std::map<KeyRun, std::set<uint64_t>> results;
    for (const auto& [node, hash] : closing.hashes) {
      const bool is_member = membership_ == nullptr || membership_->IsMember(node, membership_->epoch());
      // Who lacks the parameters cannot read it.
      if (is_member && hash.second != 0) results[hash.first].insert(hash.second);
    }
    const bool equal =
        std::all_of(results.begin(), results.end(), [](const auto& of) { return of.second.size() == 1; });
    const bool was_closed = IsClosed(round);
    closing.is_closed = true;
    if (equal && (was_closed || IsHeldByAll(round))) continue;
    violations_->Add(sent.now, "closed everywhere",
                     absl::StrCat(RoundText(entry.key, entry.round), " is called closed after ", closing.hashes.size(),
                                  " members held it", equal ? "" : " with different results"));
  }
}

}  // namespace banyan
