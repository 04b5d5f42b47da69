#include "runtime/etcd/leader_lease.h"

#include <algorithm>
#include <utility>

namespace banyan {
namespace {

// Of the lease: a step that is under way, and clocks that do not run alike.
constexpr int kMarginDivisor = 10;

}  // namespace

void LeaderLease::Renew(Timestamp asked_at, absl::Duration length, Timestamp now) {
  if (std::exchange(was_granted_, true) && !Holds(now)) return;
  const Timestamp until = asked_at + (length - length / kMarginDivisor);
  holds_until_ = std::max<int64_t>(holds_until_, until.nanoseconds());
}

}  // namespace banyan
