// Overlays for simulations: of a view, or connected and symmetric ones of a size with random rates. Pure functions (of
// the generator).
#ifndef BANYAN_SIM_SAMPLE_OVERLAYS_H_
#define BANYAN_SIM_SAMPLE_OVERLAYS_H_

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

}  // namespace banyan

#endif  // BANYAN_SIM_SAMPLE_OVERLAYS_H_
