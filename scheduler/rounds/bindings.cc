#include "scheduler/rounds/bindings.h"

#include <algorithm>
#include <iterator>

#include "core/check.h"

namespace banyan {

std::optional<Bindings::Binding> Bindings::Find(KeyId key, Round round) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return std::nullopt;
  const Leases& leases = found->second;
  const auto lease = Covering(leases, round);
  if (lease == leases.end()) return std::nullopt;
  return MakeBinding(key, *lease);
}

Bindings::Binding Bindings::Bind(KeyId key, Round round, uint64_t rounds, PolicyVersion policy, KeyRoutes route,
                                 int64_t chunk_max_elements) {
  Leases& leases = keys_[key];
  BANYAN_CHECK(Covering(leases, round) == leases.end());
  uint64_t last = round.value() + (round == Round(0) ? 0 : rounds - 1);
  const auto next = leases.upper_bound(round);
  if (next != leases.end()) last = std::min(last, next->first.value() - 1);
  const Lease lease = {Round(last), policy, Attempt(0), chunk_max_elements, last - round.value() + 1, route};
  leases.emplace(round, lease);
  Count(policy);
  return Binding{key, round, lease.last, lease.policy, lease.attempt, chunk_max_elements, route};
}

bool Bindings::Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route, int64_t chunk_max_elements) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return false;
  Leases& leases = found->second;
  bool has_any = false;
  for (auto lease = leases.begin(); lease != leases.end(); ++lease) {
    const PolicyVersion before = lease->second.policy;
    if (before >= policy || lease->second.last < from) continue;
    has_any = true;
    const Round first = std::max(lease->first, from);
    const uint64_t rounds = lease->second.last.value() - first.value() + 1;
    const Lease rest = {lease->second.last,
                        policy,
                        lease->second.attempt,
                        chunk_max_elements,
                        first == lease->first ? lease->second.open_rounds : rounds,
                        route};
    Count(policy);
    if (first == lease->first) {
      lease->second = rest;
      Uncount(before);
      continue;
    }
    BANYAN_CHECK(lease->second.open_rounds >= rounds);
    lease->second.last = Round(from.value() - 1);
    lease->second.open_rounds -= rounds;
    const auto head = lease;
    lease = leases.emplace_hint(std::next(head), first, rest);
    if (head->second.open_rounds > 0) continue;
    leases.erase(head);
    Uncount(before);
  }
  return has_any;
}

void Bindings::Count(PolicyVersion policy) {
  ++leases_of_[policy];
  ++size_;
}

void Bindings::Uncount(PolicyVersion policy) {
  const auto leases = leases_of_.find(policy);
  if (--leases->second == 0) leases_of_.erase(leases);
  --size_;
}

bool Bindings::Restore(const Binding& binding) {
  if (binding.last_round < binding.first_round) return false;
  Leases& leases = keys_[binding.key];
  const auto next = leases.upper_bound(binding.last_round);
  const bool overlaps = next != leases.begin() && std::prev(next)->second.last >= binding.first_round;
  if (overlaps) return false;
  const uint64_t rounds = binding.last_round.value() - binding.first_round.value() + 1;
  leases.emplace(binding.first_round, Lease{binding.last_round, binding.policy, binding.attempt,
                                            binding.chunk_max_elements, rounds, binding.route});
  Count(binding.policy);
  return true;
}

void Bindings::Forget(KeyId key, Round round) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  Leases& of_key = found->second;
  const auto covering = Covering(of_key, round);
  if (covering == of_key.end()) return;
  const auto lease = of_key.find(covering->first);
  if (--lease->second.open_rounds > 0) return;
  Uncount(lease->second.policy);
  of_key.erase(lease);
  if (of_key.empty()) keys_.erase(found);
}

void Bindings::ForgetClosed(KeyId key, const ClosedRounds& closed) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  const Leases leases = found->second;  // a copy, since those without an open round go
  for (const auto& [first, lease] : leases) {
    for (Round round = first; round <= lease.last && round < closed.first_open; round = round.Next()) {
      Forget(key, round);
    }
  }
  for (const Round round : closed.beyond) Forget(key, round);
}

void Bindings::Clear() {
  keys_.clear();
  leases_of_.clear();
  size_ = 0;
}

std::vector<Bindings::Binding> Bindings::LeasesOf(KeyId key) const {
  std::vector<Binding> found;
  const auto leases = keys_.find(key);
  if (leases == keys_.end()) return found;
  for (const auto& lease : leases->second) found.push_back(MakeBinding(key, lease));
  return found;
}

bool Bindings::HasBelow(KeyId key, PolicyVersion policy, Round from) const {
  const auto leases = keys_.find(key);
  return leases != keys_.end() && std::any_of(leases->second.begin(), leases->second.end(), [&](const auto& lease) {
           return lease.second.policy < policy && lease.second.last >= from;
         });
}

bool Bindings::HasOtherRoute(KeyId key, PolicyVersion policy, Round from, KeyRoutes route) const {
  const auto leases = keys_.find(key);
  return leases != keys_.end() && std::any_of(leases->second.begin(), leases->second.end(), [&](const auto& lease) {
           return lease.second.policy < policy && lease.second.last >= from && lease.second.route != route;
         });
}

std::vector<Bindings::Binding> Bindings::LeasesUnder(PolicyVersion policy) const {
  std::vector<Binding> found;
  for (const auto& [key, leases] : keys_) {
    for (const auto& lease : leases) {
      if (lease.second.policy == policy) found.push_back(MakeBinding(key, lease));
    }
  }
  return found;
}

std::optional<PolicyVersion> Bindings::OldestPolicy() const {
  if (leases_of_.empty()) return std::nullopt;
  return leases_of_.begin()->first;
}

Bindings::Binding Bindings::MakeBinding(KeyId key, const Leases::value_type& lease) {
  return {key,
          lease.first,
          lease.second.last,
          lease.second.policy,
          lease.second.attempt,
          lease.second.chunk_max_elements,
          lease.second.route};
}

Bindings::Leases::const_iterator Bindings::Covering(const Leases& leases, Round round) {
  const auto after = leases.upper_bound(round);
  if (after == leases.begin()) return leases.end();
  const auto lease = std::prev(after);
  return lease->second.last >= round ? lease : leases.end();
}

}  // namespace banyan
