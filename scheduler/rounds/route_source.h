// Where the precision routes of rounds come from, for those who bind rounds and who publish policies.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/precision/key_routes.h"
#include "scheduler/state/policy_record.h"

namespace banyan {

class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Returns the routes of the key's rounds that are bound from now on, by slice. REQUIRES: the key exists.
  virtual KeyRoutes RouteOf(KeyId key) const = 0;
  // Returns the first elements of the slices after the first that a new key gets; none where it is one.
  virtual std::vector<int64_t> BordersOf(const std::string& name, const TensorShape& shape) const = 0;
  // Returns what a restarted scheduler needs to go on with these routes.
  virtual PrecisionState State() const = 0;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
