// Which of several processes may act as the one that all others listen to. Pure interface; its implementations are a
// lease in etcd and, for tests, whatever they say.
//
// Campaign is for one thread, the others for any. Owned by the process that wants to lead.
//
// Invariants:
// - No other process begins to lead before LeadsUntil of this one.
// - Leadership that is lost stays lost. The process may lead again by another object, with a core that knows only what
//   is stored.
#ifndef BANYAN_PROTOCOL_LEADERSHIP_H_
#define BANYAN_PROTOCOL_LEADERSHIP_H_

#include "absl/status/status.h"
#include "core/time.h"

namespace banyan {

class Leadership {
 public:
  virtual ~Leadership() = default;

  // Tries once to become the leader, and returns OK when this process is. ALREADY_EXISTS says who leads; UNAVAILABLE,
  // whom nobody can ask now. After both another try is worth while. REQUIRES: it has not returned OK before.
  virtual absl::Status Campaign() = 0;
  // The time up to which this process leads for certain, by its monotonic clock. It moves on while all is well.
  virtual Timestamp LeadsUntil() const = 0;
  // Why this process leads no more: ABORTED. REQUIRES: it is past LeadsUntil.
  virtual absl::Status WhyLost() const = 0;
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_LEADERSHIP_H_
