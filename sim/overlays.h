// Overlays for simulations: random ones of a size, those of views, what cores that carry less see of one, and the text
// of its file. Pure functions (of the generator).
#ifndef BANYAN_SIM_OVERLAYS_H_
#define BANYAN_SIM_OVERLAYS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "core/random.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

struct OverlayShape {
  int nodes = 4;
  int links = 4;  // at least nodes - 1, which connect them
  double least_bps = 20e6;
  double most_bps = 155e6;
  absl::Duration least_delay = absl::Milliseconds(5);
  absl::Duration most_delay = absl::Milliseconds(30);
};

// A random tree and further random links, each direction with a rate of its own. Fewer links where there are no more
// pairs.
OverlayConfig RandomOverlay(const OverlayShape& shape, Random* random);

// A ring and random links until each node has `degree` of them. REQUIRES: nodes * degree is even, 2 <= degree < nodes.
OverlayConfig RegularOverlay(const OverlayShape& shape, int degree, Random* random);

// The nodes and links of a view. REQUIRES: every link has both directions, whose delays and losses are the same.
OverlayConfig OverlayOf(const NetworkView& view);

// Returns the nodes of `view` with a link between every two of them, as they see a network whose routers take care of
// the way: the path of fewest hops, over the lowest ids. A link is as fast as the slowest link of its path and as long
// as all together, and `shared` says what paths have in common. REQUIRES: `view` is connected.
OverlayConfig RoutedOverlay(const NetworkView& view);

// Returns whether every two nodes of `view` have a link.
bool IsFullMesh(const NetworkView& view);

// Planners that choose chunks take none of fewer carried elements than this: they would be more header than anything
// else.
inline constexpr int64_t kLeastCarriedElements = 64;

// Returns the overlay that cores see when they carry scaled-down vectors: each element stands for `scale` elements, so
// chunks, windows, limits and rates are divided by it, and every decision comes out as at full size. Gives addresses to
// the scheduler and to nodes that have none. REQUIRES: scale >= 1.
OverlayConfig ScaleOverlay(OverlayConfig overlay, int64_t scale);

}  // namespace banyan

#endif  // BANYAN_SIM_OVERLAYS_H_
