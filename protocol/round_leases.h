// Which policy governs which rounds of each key, as leases: runs of rounds of one key that are bound alike. The table
// that the scheduler and the nodes both keep. Thread-compatible; owned by RoundLedger and PolicyTable.
//
// Invariants:
// - A round is in at most one lease.
#ifndef BANYAN_PROTOCOL_ROUND_LEASES_H_
#define BANYAN_PROTOCOL_ROUND_LEASES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "proto/precision/key_routes.h"

namespace banyan {

class RoundLeases {
 public:
  struct Lease {
    Round last;  // inclusive
    PolicyVersion policy;
    Attempt attempt;
    int64_t chunk_max_elements = 0;
    KeyRoutes route = {};

    // Returns whether rounds that are bound by this policy and route now would not get this lease.
    bool IsOutdated(PolicyVersion policy_now, KeyRoutes route_now) const {
      return policy < policy_now || (policy == policy_now && route != route_now);
    }
    friend bool operator==(const Lease&, const Lease&) = default;
  };
  using Map = std::map<std::pair<KeyId, Round>, Lease>;  // by key and first round
  using Iterator = Map::const_iterator;
  struct Range {
    Iterator first;
    Iterator last;  // exclusive
    Iterator begin() const { return first; }
    Iterator end() const { return last; }
    bool empty() const { return first == last; }
  };

  // Returns the lease that has the round, or end().
  Iterator Find(KeyId key, Round round) const;
  // Returns the first lease of the key that has the round or later ones; the first one of a later key, or end(), if
  // there is none.
  Iterator From(KeyId key, Round round) const;
  // Returns the leases of the key, in order of rounds.
  Range Of(KeyId key) const {
    return {leases_.lower_bound({key, Round(0)}), leases_.lower_bound({key.Next(), Round(0)})};
  }
  // Adds a lease. False when it overlaps another one or ends before it begins.
  bool Add(KeyId key, Round first, const Lease& lease);
  using Takes = absl::FunctionRef<bool(const Lease& lease)>;
  // Takes away the rounds of the key from `from` on whose leases `takes` accepts. Returns these, by first round.
  std::vector<std::pair<Round, Lease>> TakeFrom(KeyId key, Round from, Takes takes);
  // Returns the lease after it.
  Map::iterator Erase(Iterator lease);
  void Clear();

  Iterator begin() const { return leases_.begin(); }
  Iterator end() const { return leases_.end(); }
  size_t size() const { return leases_.size(); }
  bool Governs(PolicyVersion policy) const { return leases_of_.count(policy) > 0; }
  // Returns the oldest policy that governs a round; empty for an empty table.
  std::optional<PolicyVersion> OldestPolicy() const;

  friend bool operator==(const RoundLeases&, const RoundLeases&) = default;

 private:
  Map leases_;
  std::map<PolicyVersion, size_t> leases_of_;  // how many leases name each policy, above 0
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_ROUND_LEASES_H_
