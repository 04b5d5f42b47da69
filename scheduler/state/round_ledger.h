// What is bound, cut and closed of the job's rounds: the leases that have an open round, and for each key which rounds
// are closed everywhere. A running scheduler binds and closes by it; at a restart the records are replayed into one, by
// the same functions. Thread-compatible; owned by JobRounds, and by RecoveredState before it.
//
// Invariants:
// - A round is in at most one lease, and a lease has an open round.
// - What contradicts these is refused, and changes nothing.
#ifndef BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_
#define BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "protocol/round_leases.h"
#include "scheduler/state/state_record.h"

namespace banyan {

class RoundLedger {
 public:
  // Adds a lease. False when it overlaps another one or all its rounds are closed.
  bool Bind(const BoundRounds& rounds);
  // Returns whether a lease with rounds of the key from `from` on is outdated where these are `policy` and `route`.
  bool HasOutdated(KeyId key, Round from, PolicyVersion policy, KeyRoutes route) const;
  // Gives these rounds to `policy` and `route`, in chunks of so many elements; 0: of those of the policy. False when
  // there is none, or one is closed.
  bool Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route = {}, int64_t chunk_max_elements = 0);
  // Closes a round. False when no lease has it open.
  bool Close(KeyId key, Round round);
  // Takes the closed rounds of a key, whose leases come before. False when the key has closed rounds already.
  bool RestoreClosed(KeyId key, const ClosedRounds& closed);
  // Takes the place of all leases, and closes the rounds before the plan's frontiers. False when a binding overlaps
  // another one or has no open round.
  bool Rebind(const EpochPlanRecord& plan);

  const RoundLeases& leases() const { return leases_; }
  // Returns the lease that has the round.
  std::optional<BoundRounds> Find(KeyId key, Round round) const;
  // Returns the leases by key and first round.
  std::vector<BoundRounds> OpenBindings() const;
  // Returns those of one key.
  std::vector<BoundRounds> OpenBindingsOf(KeyId key) const;
  const std::map<KeyId, ClosedRounds>& closed() const { return closed_; }
  const ClosedRounds& ClosedOf(KeyId key) const;
  // Returns the round after the last one of the key that is closed.
  Round AfterClosed(KeyId key) const;

  friend bool operator==(const RoundLedger&, const RoundLedger&) = default;

 private:
  bool AreClosed(KeyId key, Round first, Round last) const;
  // Erases a lease without an open round. Returns the one after it.
  RoundLeases::Iterator EraseIfClosed(RoundLeases::Iterator lease);

  RoundLeases leases_;
  std::map<KeyId, ClosedRounds> closed_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_
