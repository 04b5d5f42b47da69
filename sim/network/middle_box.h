// What stands in the way of connections, such as a NAT, a firewall or a tunnel: it stops some, and tells nobody. A
// value; thread-compatible.
#ifndef BANYAN_SIM_NETWORK_MIDDLE_BOX_H_
#define BANYAN_SIM_NETWORK_MIDDLE_BOX_H_

#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

struct MiddleBox {
  // A message of so many bytes, or more, stops its direction of its connection.
  int64_t drops_from_bytes = INT64_MAX;
  // A connection that was not used for longer is stopped, in both directions, when it is used again.
  absl::Duration forgets_after = absl::InfiniteDuration();
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_MIDDLE_BOX_H_
