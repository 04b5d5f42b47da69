// Compares the overlay of a running job with the one that `banyan reconfigure` brings, and says whether the job can
// change to it. Pure function.
#ifndef BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_
#define BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns the differences, one line each, such as "topology.planner: fapt -> star"; none when both say the same. These
// may differ: topology, awareness, multipath, chunks, and the configured rates, delays and losses of links. Nodes may
// come at the end of `nodes`, with their links.
//
// FAILED_PRECONDITION names the first field that may not change, and what to do. Both overlays come from ParseOverlay;
// `element_bytes` are those of the widest element of the job's tensors.
absl::StatusOr<std::vector<std::string>> CompareOverlays(const OverlayConfig& running, const OverlayConfig& wanted,
                                                         int64_t element_bytes = 4);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_
