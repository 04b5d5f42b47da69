// The overlay that cores see when they carry scaled-down vectors: each element stands for `scale` elements, so chunks,
// windows, limits and rates are divided by it, and every decision comes out as at full size. Pure function.
#ifndef BANYAN_SIM_OVERLAY_SCALING_H_
#define BANYAN_SIM_OVERLAY_SCALING_H_

#include <cstdint>

#include "topology/overlay/overlay_config.h"

namespace banyan {

// Planners that choose chunks take none of fewer carried elements than this: they would be more header than anything
// else.
inline constexpr int64_t kLeastCarriedElements = 64;

// Gives addresses to the scheduler and to nodes that have none. REQUIRES: scale >= 1.
OverlayConfig ScaleOverlay(OverlayConfig overlay, int64_t scale);

}  // namespace banyan

#endif  // BANYAN_SIM_OVERLAY_SCALING_H_
