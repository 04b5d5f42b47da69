#include "scheduler/state/round_ledger.h"

#include <algorithm>
#include <iterator>

namespace banyan {

bool RoundLedger::Bind(const Binding& binding) {
  if (binding.last_round < binding.first_round) return false;
  const auto closed = closed_.find(binding.key);
  const uint64_t open =
      CountOpen(binding.first_round, binding.last_round, closed == closed_.end() ? ClosedRounds() : closed->second);
  Leases& leases = leases_[binding.key];
  const auto next = leases.upper_bound(binding.last_round);
  const bool overlaps = next != leases.begin() && std::prev(next)->second.last >= binding.first_round;
  if (!overlaps && open > 0) {
    leases.emplace(binding.first_round, Lease{binding.last_round, binding.policy, binding.attempt,
                                              binding.chunk_max_elements, open, binding.route});
    return true;
  }
  if (leases.empty()) leases_.erase(binding.key);
  return false;
}

bool RoundLedger::Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route, int64_t chunk_max_elements) {
  const auto found = leases_.find(key);
  if (found == leases_.end()) return false;
  const auto closed = closed_.find(key);
  const ClosedRounds none;
  const ClosedRounds& over = closed == closed_.end() ? none : closed->second;
  if (from < over.first_open || over.beyond.lower_bound(from) != over.beyond.end()) return false;
  Leases& leases = found->second;
  bool has_any = false;
  for (auto lease = leases.begin(); lease != leases.end(); ++lease) {
    if (lease->second.policy >= policy || lease->second.last < from) continue;
    has_any = true;
    const Round first = std::max(lease->first, from);
    const Lease rest = {lease->second.last,
                        policy,
                        lease->second.attempt,
                        chunk_max_elements,
                        CountOpen(first, lease->second.last, over),
                        route};
    if (first == lease->first) {
      lease->second = rest;
      continue;
    }
    lease->second.last = Round(from.value() - 1);
    lease->second.open_rounds -= rest.open_rounds;
    const auto head = lease;
    lease = leases.emplace_hint(std::next(head), first, rest);
    if (head->second.open_rounds == 0) leases.erase(head);
  }
  return has_any;
}

bool RoundLedger::Close(KeyId key, Round round) {
  const auto found = leases_.find(key);
  if (found == leases_.end()) return false;
  Leases& leases = found->second;
  const auto lease = Covering(leases, round);
  if (lease == leases.end()) return false;
  ClosedRounds& closed = closed_[key];
  if (closed.Contains(round)) return false;
  closed.Add(round);
  if (--lease->second.open_rounds == 0) leases.erase(lease);
  if (leases.empty()) leases_.erase(found);
  return true;
}

bool RoundLedger::RestoreClosed(KeyId key, const ClosedRounds& closed) {
  if (!closed_.emplace(key, closed).second) return false;
  const auto found = leases_.find(key);
  if (found == leases_.end()) return true;
  Leases& leases = found->second;
  for (auto& [first, lease] : leases) lease.open_rounds = CountOpen(first, lease.last, closed);
  std::erase_if(leases, [](const auto& entry) { return entry.second.open_rounds == 0; });
  if (leases.empty()) leases_.erase(found);
  return true;
}

bool RoundLedger::Rebind(const EpochPlanRecord& plan) {
  leases_.clear();
  for (const EpochPlan::Frontier& frontier : plan.frontiers) {
    if (frontier.first_open == Round(0)) continue;
    for (KeyId key = frontier.first_key; key <= frontier.last_key; key = key.Next()) {
      closed_[key].AdvanceTo(frontier.first_open);
    }
  }
  for (const EpochPlan::Binding& run : plan.bindings) {
    for (KeyId key = run.first_key; key <= run.last_key; key = key.Next()) {
      if (!Bind({key, run.first_round, run.last_round, plan.policy, run.attempt, run.chunk_max_elements, run.route}))
        return false;
    }
  }
  return true;
}

std::vector<RoundLedger::Binding> RoundLedger::OpenBindings() const {
  std::vector<Binding> bindings;
  for (const auto& [key, leases] : leases_) {
    for (const auto& [first, lease] : leases) {
      bindings.push_back(
          Binding{key, first, lease.last, lease.policy, lease.attempt, lease.chunk_max_elements, lease.route});
    }
  }
  return bindings;
}

std::optional<PolicyVersion> RoundLedger::OldestPolicy() const {
  std::optional<PolicyVersion> oldest;
  for (const auto& [key, leases] : leases_) {
    for (const auto& [first, lease] : leases) oldest = std::min(oldest.value_or(lease.policy), lease.policy);
  }
  return oldest;
}

uint64_t RoundLedger::CountOpen(Round first, Round last, const ClosedRounds& closed) {
  if (last < closed.first_open) return 0;
  const Round from = std::max(first, closed.first_open);
  const auto beyond_end = closed.beyond.upper_bound(last);
  const auto beyond = std::distance(closed.beyond.lower_bound(from), beyond_end);
  return last.value() - from.value() + 1 - static_cast<uint64_t>(beyond);
}

RoundLedger::Leases::iterator RoundLedger::Covering(Leases& leases, Round round) {
  const auto after = leases.upper_bound(round);
  if (after == leases.begin()) return leases.end();
  const auto lease = std::prev(after);
  return lease->second.last >= round ? lease : leases.end();
}

}  // namespace banyan
