// An overlay in which every two nodes have a link, as they see a network whose routers take care of the way. Pure
// functions.
#ifndef BANYAN_SIM_ROUTED_OVERLAY_H_
#define BANYAN_SIM_ROUTED_OVERLAY_H_

#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns the nodes of `view` with a link between every two of them: the path of fewest hops, over the lowest ids. It
// is as fast as the slowest link of its path and as long as all together, and `shared` says what paths have in common.
// REQUIRES: `view` is connected.
OverlayConfig RoutedOverlay(const NetworkView& view);

// Returns whether every two nodes of `view` have a link.
bool IsFullMesh(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_SIM_ROUTED_OVERLAY_H_
