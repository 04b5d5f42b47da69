#include "protocol/round_leases.h"

#include <algorithm>
#include <iterator>

namespace banyan {

RoundLeases::Iterator RoundLeases::Find(KeyId key, Round round) const {
  const auto after = leases_.upper_bound({key, round});
  if (after == leases_.begin()) return leases_.end();
  const auto lease = std::prev(after);
  return lease->first.first == key && lease->second.last >= round ? lease : leases_.end();
}

RoundLeases::Iterator RoundLeases::From(KeyId key, Round round) const {
  const auto covering = Find(key, round);
  return covering != leases_.end() ? covering : leases_.lower_bound({key, round});
}

bool RoundLeases::Add(KeyId key, Round first, const Lease& lease) {
  if (lease.last < first) return false;
  const auto next = leases_.upper_bound({key, lease.last});
  const bool has_former = next != leases_.begin() && std::prev(next)->first.first == key;
  if (has_former && std::prev(next)->second.last >= first) return false;
  leases_.emplace_hint(next, std::pair(key, first), lease);
  ++leases_of_[lease.policy];
  return true;
}

std::vector<std::pair<Round, RoundLeases::Lease>> RoundLeases::TakeFrom(KeyId key, Round from, Takes takes) {
  std::vector<std::pair<Round, Lease>> taken;
  for (auto lease = From(key, from); lease != leases_.end() && lease->first.first == key;) {
    if (!takes(lease->second)) {
      ++lease;
      continue;
    }
    auto [start, rest] = *lease;
    taken.emplace_back(std::max(start.second, from), rest);
    lease = Erase(lease);
    if (start.second >= from) continue;
    rest.last = Round(from.value() - 1);
    Add(key, start.second, rest);
  }
  return taken;
}

RoundLeases::Map::iterator RoundLeases::Erase(Iterator lease) {
  const auto leases = leases_of_.find(lease->second.policy);
  if (--leases->second == 0) leases_of_.erase(leases);
  return leases_.erase(lease);
}

void RoundLeases::Clear() {
  leases_.clear();
  leases_of_.clear();
}

std::optional<PolicyVersion> RoundLeases::OldestPolicy() const {
  if (leases_of_.empty()) return std::nullopt;
  return leases_of_.begin()->first;
}

}  // namespace banyan
