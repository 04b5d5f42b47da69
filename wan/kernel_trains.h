// Chooses the length of the trains of segments that the kernel of an emulated node sends at once. Pure function.
#ifndef BANYAN_WAN_KERNEL_TRAINS_H_
#define BANYAN_WAN_KERNEL_TRAINS_H_

#include <optional>

#include "core/ids.h"
#include "topology/network_view.h"

namespace banyan {

// A kernel that paces sends at once what a connection may send in 1 ms. So slow connections cost a timer and a wake-up
// for every few segments. It adds 64 KB, halved for each time that 2 to the power of tcp_tso_rtt_log goes into the
// connection's round trip in microseconds. Returns the setting with which trains over the shortest link that begins at
// the node are all of the 64 KB longer. Where one of the node's links is slow and none is shorter than 5 ms, the trains
// are 8 to 16 KB longer. Longer trains would fill that link's queue, and the processor has less to do anyway. Empty for
// the kernel's own setting, where the slowest link is slower still or no link begins there. Links cut trains into
// shorter pieces again.
std::optional<int> TsoRttLog(const NetworkView& view, NodeId node);

}  // namespace banyan

#endif  // BANYAN_WAN_KERNEL_TRAINS_H_
