// Decides whether the job can go on after a member has left it on purpose. It can, as long as no other member waits for
// a round or a barrier that the one that left will never take part in. Time is handed in. Thread-compatible; owned by
// the core.
//
// Invariants:
// - The first departure counts; later ones change nothing.
// - A round that is bound when the member leaves has `patience` to end. A round that nobody has pushed hurts nobody.
#ifndef BANYAN_SCHEDULER_DEPARTURE_H_
#define BANYAN_SCHEDULER_DEPARTURE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/members/membership.h"
#include "scheduler/rounds/barrier.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/round_book.h"

namespace banyan {

class Departure {
 public:
  // The tables that tell which rounds and barriers members wait for. The references must outlive the call.
  struct Waits {
    const KeyTable& keys;
    const RoundBook& rounds;
    const Barrier& barrier;
  };

  explicit Departure(absl::Duration patience) : patience_(patience) {}

  // Notes that a member has left: `what` says who and why, `is_asked_for` that its operator wanted it. True for the
  // first one.
  bool Note(Timestamp now, std::string what, bool is_asked_for);
  bool has_happened() const { return !what_.empty(); }
  bool is_asked_for() const { return is_asked_for_; }

  // True once, when the patience is over: then each member is to be checked.
  bool TakeDue(Timestamp now);
  // When TakeDue returns true; kNever without a departure and after it.
  Timestamp NextDeadline() const { return due_.value_or(kNever); }

  // Why the job cannot go on, since a member that is still here waits in vain; empty when it does not. `report` is the
  // member's last one, nullptr before the first.
  std::optional<std::string> WhyStuck(const Member& member, const NodeReport* report, const Waits& waits) const;
  // Why the job cannot go on when a member enters this barrier; empty when it can.
  std::optional<std::string> WhyStuck(uint64_t barrier, const Waits& waits) const;

 private:
  std::string Describe(const std::string& consequence) const;

  absl::Duration patience_;
  std::string what_;
  bool is_asked_for_ = false;
  std::optional<Timestamp> due_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_DEPARTURE_H_
