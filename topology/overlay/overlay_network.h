// An overlay that is read, as those who run a job or a simulation of it take it. Pure functions.
#ifndef BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NETWORK_H_
#define BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NETWORK_H_

#include "absl/status/status.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Checks what commands that run a job need beyond ParseOverlay: addresses of the scheduler and of every node.
absl::Status ValidateForJob(const OverlayConfig& overlay);

// Checks what an emulated WAN needs beyond ParseOverlay: the rates of all links.
absl::Status ValidateForEmulation(const OverlayConfig& overlay);

// Returns the overlay without what hosts send and receive at most, and without what links share.
OverlayConfig WithoutCaps(OverlayConfig overlay);

// Makes the network of `overlay`. Nodes get the NodeIds 1..n in file order. REQUIRES: the overlay comes from
// ParseOverlay or keeps its promises.
NetworkView MakeNetworkView(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_OVERLAY_NETWORK_H_
