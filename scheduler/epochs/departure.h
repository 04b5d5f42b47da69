// Decides whether members wait in vain after one of them has left on purpose. They do not as long as none waits for a
// round that the one that left will never take part in. Time is handed in. Thread-compatible; owned by EpochChanger.
//
// Invariants:
// - The first departure of an epoch counts; later ones change nothing.
// - A round before the last closed one has `patience` to end. A round that nobody has pushed hurts nobody.
#ifndef BANYAN_SCHEDULER_EPOCHS_DEPARTURE_H_
#define BANYAN_SCHEDULER_EPOCHS_DEPARTURE_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"

namespace banyan {

class Departure {
 public:
  // The tables that tell which rounds members wait for. The references must outlive the call.
  struct Waits {
    const KeyTable& keys;
    const JobRounds& rounds;
  };

  explicit Departure(absl::Duration patience) : patience_(patience) {}

  // Notes that a member has left: `what` says who and why. True for the first one.
  bool Note(Timestamp now, std::string what);
  bool has_happened() const { return !what_.empty(); }

  // True once, when the patience is over: then each member is to be checked.
  bool TakeDue(Timestamp now);
  // When TakeDue returns true; kNever without a departure and after it.
  Timestamp NextDeadline() const { return due_.value_or(kNever); }

  // Why the epoch cannot go on, since a member that is still here waits in vain; empty when it does not. `report` is
  // the member's last one, nullptr before the first.
  std::optional<std::string> WhyStuck(const Member& member, const NodeReport* report, const Waits& waits) const;

 private:
  absl::Duration patience_;
  std::string what_;
  std::optional<Timestamp> due_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_DEPARTURE_H_
