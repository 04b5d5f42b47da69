// Where the precision routes of rounds come from, for those who bind rounds and who publish policies.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_

#include "core/ids.h"
#include "proto/precision/precision_route.h"
#include "scheduler/state/policy_record.h"

namespace banyan {

class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Returns the route of the key's rounds that are bound from now on. REQUIRES: the key exists.
  virtual PrecisionRoute RouteOf(KeyId key) const = 0;
  // Returns what a restarted scheduler needs to go on with these routes.
  virtual PrecisionState State() const = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
