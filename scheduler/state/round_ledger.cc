#include "scheduler/state/round_ledger.h"

#include <algorithm>
#include <iterator>

namespace banyan {
namespace {

BoundRounds BoundBy(const RoundLeases::Map::value_type& entry) {
  const auto& [start, lease] = entry;
  return {start.first, start.second, lease.last, lease.policy, lease.attempt, lease.chunk_max_elements, lease.route};
}

}  // namespace

bool RoundLedger::Bind(const BoundRounds& rounds) {
  return !AreClosed(rounds.key, rounds.first_round, rounds.last_round) &&
         leases_.Add(rounds.key, rounds.first_round,
                     {rounds.last_round, rounds.policy, rounds.attempt, rounds.chunk_max_elements, rounds.route});
}

bool RoundLedger::HasOutdated(KeyId key, Round from, PolicyVersion policy, KeyRoutes route) const {
  const RoundLeases::Range leases = leases_.Of(key);
  return std::any_of(leases.begin(), leases.end(), [&](const auto& entry) {
    return entry.second.last >= from && entry.second.IsOutdated(policy, route);
  });
}

bool RoundLedger::Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route, int64_t chunk_max_elements) {
  if (from < AfterClosed(key)) return false;
  const auto rest =
      leases_.TakeFrom(key, from, [&](const RoundLeases::Lease& lease) { return lease.IsOutdated(policy, route); });
  for (const auto& [first, lease] : rest) {
    leases_.Add(key, first, {lease.last, policy, lease.attempt, chunk_max_elements, route});
  }
  if (from > Round(0)) {
    const auto head = leases_.Find(key, Round(from.value() - 1));
    if (head != leases_.end()) EraseIfClosed(head);
  }
  return !rest.empty();
}

bool RoundLedger::Close(KeyId key, Round round) {
  const auto lease = leases_.Find(key, round);
  if (lease == leases_.end() || ClosedOf(key).Contains(round)) return false;
  closed_[key].Add(round);
  EraseIfClosed(lease);
  return true;
}

bool RoundLedger::RestoreClosed(KeyId key, const ClosedRounds& closed) {
  if (!closed_.emplace(key, closed).second) return false;
  const RoundLeases::Range leases = leases_.Of(key);
  for (auto lease = leases.begin(); lease != leases.end();) lease = EraseIfClosed(lease);
  return true;
}

bool RoundLedger::Rebind(const EpochPlanRecord& plan) {
  leases_.Clear();
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

std::optional<BoundRounds> RoundLedger::Find(KeyId key, Round round) const {
  const auto lease = leases_.Find(key, round);
  if (lease == leases_.end()) return std::nullopt;
  return BoundBy(*lease);
}

std::vector<BoundRounds> RoundLedger::OpenBindings() const {
  std::vector<BoundRounds> bindings;
  std::transform(leases_.begin(), leases_.end(), std::back_inserter(bindings), BoundBy);
  return bindings;
}

std::vector<BoundRounds> RoundLedger::OpenBindingsOf(KeyId key) const {
  std::vector<BoundRounds> bindings;
  const RoundLeases::Range leases = leases_.Of(key);
  std::transform(leases.begin(), leases.end(), std::back_inserter(bindings), BoundBy);
  return bindings;
}

const ClosedRounds& RoundLedger::ClosedOf(KeyId key) const {
  static const ClosedRounds& none = *new ClosedRounds();
  const auto found = closed_.find(key);
  return found == closed_.end() ? none : found->second;
}

Round RoundLedger::AfterClosed(KeyId key) const {
  const ClosedRounds& closed = ClosedOf(key);
  return closed.beyond.empty() ? closed.first_open : closed.beyond.rbegin()->Next();
}

bool RoundLedger::AreClosed(KeyId key, Round first, Round last) const {
  const ClosedRounds& closed = ClosedOf(key);
  // Most often the last one is open.
  if (!closed.Contains(last)) return false;
  for (Round round = std::max(first, closed.first_open); round < last; round = round.Next()) {
    if (!closed.Contains(round)) return false;
  }
  return true;
}

RoundLeases::Iterator RoundLedger::EraseIfClosed(RoundLeases::Iterator lease) {
  const auto& [start, rounds] = *lease;
  return AreClosed(start.first, start.second, rounds.last) ? leases_.Erase(lease) : std::next(lease);
}

}  // namespace banyan
