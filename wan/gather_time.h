// Chooses the time that a busy forwarder lets packets gather before it looks for them again. Pure function.
#ifndef BANYAN_WAN_GATHER_TIME_H_
#define BANYAN_WAN_GATHER_TIME_H_

#include "absl/time/time.h"
#include "topology/network_view.h"

namespace banyan {

inline constexpr absl::Duration kLeastGatherTime = absl::Microseconds(100);
inline constexpr absl::Duration kMostGatherTime = absl::Milliseconds(1);

// So much later may a packet leave or arrive: a sixteenth of the network's shortest delay, between these two.
absl::Duration GatherTime(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_WAN_GATHER_TIME_H_
