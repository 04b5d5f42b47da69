// The rounds that records have bound and closed: the leases that have an open round, and for each key which rounds are
// closed. Thread-compatible; owned by RecoveredState.
//
// Invariants:
// - A round is in at most one lease, and a lease has an open round.
// - A lease or a round that contradicts these is refused, and changes nothing.
#ifndef BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_
#define BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"
#include "scheduler/state/state_record.h"

namespace banyan {

class RoundLedger {
 public:
  using Binding = BoundRounds;

  // Adds a lease. False when it overlaps another one or all its rounds are closed.
  bool Bind(const Binding& binding);
  // Gives what earlier policies govern of the key from round `from` on to `policy` and `route`, in chunks of so many
  // elements; 0: of those of the policy. False when that is nothing, or a round of it is closed.
  bool Cut(KeyId key, Round from, PolicyVersion policy, KeyRoutes route = {}, int64_t chunk_max_elements = 0);
  // Closes a round. False when no lease has it open.
  bool Close(KeyId key, Round round);
  // Takes the closed rounds of a key, whose leases come before. False when the key has closed rounds already.
  bool RestoreClosed(KeyId key, const ClosedRounds& closed);

  // Takes the place of all leases, and closes the rounds before the plan's frontiers. False when a binding overlaps
  // another one or has no open round.
  bool Rebind(const EpochPlanRecord& plan);

  // Returns the leases by key and first round.
  std::vector<Binding> OpenBindings() const;
  const std::map<KeyId, ClosedRounds>& closed() const { return closed_; }
  // Returns the oldest policy of a lease; empty without one.
  std::optional<PolicyVersion> OldestPolicy() const;

  friend bool operator==(const RoundLedger&, const RoundLedger&) = default;

 private:
  struct Lease {
    Round last;
    PolicyVersion policy;
    Attempt attempt;
    int64_t chunk_max_elements = 0;
    uint64_t open_rounds = 0;
    KeyRoutes route = {};
    friend bool operator==(const Lease&, const Lease&) = default;
  };
  using Leases = std::map<Round, Lease>;  // by first round

  static uint64_t CountOpen(Round first, Round last, const ClosedRounds& closed);
  // Returns the lease that has the round, or the end.
  static Leases::iterator Covering(Leases& leases, Round round);

  std::map<KeyId, Leases> leases_;
  std::map<KeyId, ClosedRounds> closed_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_ROUND_LEDGER_H_
