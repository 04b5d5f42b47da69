// The table that says which policy governs which round of which key. It answers topology requests: the first request
// fixes the answer for all (NETSTORM, section VII-A), until a cut moves rounds that nobody has begun to a later policy.
// Thread-compatible; owned by RoundBook.
//
// Invariants:
// - A round is in at most one lease. A lease covers consecutive rounds of one key under one policy.
// - Round 0 has a lease of its own.
// - Only open rounds are kept: a lease goes when its last round is closed everywhere.
#ifndef BANYAN_SCHEDULER_ROUNDS_BINDINGS_H_
#define BANYAN_SCHEDULER_ROUNDS_BINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/state/state_record.h"

namespace banyan {

class Bindings {
 public:
  using Binding = BoundRounds;

  std::optional<Binding> Find(KeyId key, Round round) const;
  // Binds the round and those after it, `rounds` in all or up to the next bound one, in chunks of so many elements at
  // most; 0: of those of the policy. REQUIRES: the round is not bound; rounds >= 1.
  Binding Bind(KeyId key, Round round, uint64_t rounds, PolicyVersion policy, KeyRoutes route = {},
               int64_t chunk_max_elements = 0);
  // Gives what earlier policies govern of the key from round `from` on to `policy` and `route`, in such chunks. True if
  // that was anything. REQUIRES: none of these rounds is closed.
  bool Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route = {}, int64_t chunk_max_elements = 0);
  // Puts a binding of the state records back. False when it overlaps another one or its rounds are in disorder.
  bool Restore(const Binding& binding);
  // Forgets a round that is closed everywhere.
  void Forget(KeyId key, Round round);
  // Forgets all rounds of the key that are closed.
  void ForgetClosed(KeyId key, const ClosedRounds& closed);

  // Forgets all leases.
  void Clear();

  // Returns the leases of the key, in order.
  std::vector<Binding> LeasesOf(KeyId key) const;
  // Returns whether a policy before this one governs a round of the key, `from` or a later one.
  bool HasBelow(KeyId key, PolicyVersion policy, Round from = Round(0)) const;
  // Returns whether a policy before this one governs a round of the key, `from` or a later one, with another route.
  bool HasOtherRoute(KeyId key, PolicyVersion policy, Round from, KeyRoutes route) const;
  // Returns the leases under this policy, in order of keys and rounds.
  std::vector<Binding> LeasesUnder(PolicyVersion policy) const;
  // Returns the oldest policy that governs a round of the table; empty for an empty table.
  std::optional<PolicyVersion> OldestPolicy() const;

  // Returns the number of leases.
  size_t size() const { return size_; }

 private:
  struct Lease {
    Round last;
    PolicyVersion policy;
    Attempt attempt;
    int64_t chunk_max_elements = 0;
    uint64_t open_rounds = 0;
    KeyRoutes route = {};
  };
  using Leases = std::map<Round, Lease>;  // by first round

  void Count(PolicyVersion policy);
  void Uncount(PolicyVersion policy);
  static Binding MakeBinding(KeyId key, const Leases::value_type& lease);
  static Leases::const_iterator Covering(const Leases& leases, Round round);

  std::map<KeyId, Leases> keys_;
  std::map<PolicyVersion, size_t> leases_of_;  // how many leases name each policy, above 0
  size_t size_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_BINDINGS_H_
