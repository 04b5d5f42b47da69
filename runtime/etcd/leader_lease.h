// How long a lease holds, by the clock of the process that has it: from the moment of asking on, less a margin for what
// is under way at its end. Thread-safe: one thread renews it, and any may ask.
//
// Invariants:
// - It ends before the one who grants it may think so.
// - Once it has ended it stays ended, whatever comes later.
#ifndef BANYAN_RUNTIME_ETCD_LEADER_LEASE_H_
#define BANYAN_RUNTIME_ETCD_LEADER_LEASE_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class LeaderLease {
 public:
  // Takes note that the lease was granted or renewed for `length` on a request of `asked_at`. `now` tells whether it
  // had ended before.
  void Renew(Timestamp asked_at, absl::Duration length, Timestamp now);
  void End() { holds_until_ = 0; }

  Timestamp HoldsUntil() const { return Timestamp::FromNanoseconds(holds_until_); }
  bool Holds(Timestamp now) const { return now < HoldsUntil(); }

 private:
  std::atomic<int64_t> holds_until_ = 0;  // nanoseconds; before the first Renew it does not hold
  bool was_granted_ = false;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_ETCD_LEADER_LEASE_H_
