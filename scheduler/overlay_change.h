// What `banyan reconfigure` may change while a job runs, and what differs between two overlay files. Pure function.
#ifndef BANYAN_SCHEDULER_OVERLAY_CHANGE_H_
#define BANYAN_SCHEDULER_OVERLAY_CHANGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/overlay_config.h"

namespace banyan {

// The differences, one line each, such as "topology.planner: fapt -> star"; none when both say the same. These may
// differ: topology, awareness, multipath, chunks, and what is believed of the links that exist.
//
// FAILED_PRECONDITION names the first field that may not change, and what to do. Both overlays come from ParseOverlay.
absl::StatusOr<std::vector<std::string>> CompareOverlays(const OverlayConfig& running, const OverlayConfig& wanted);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_OVERLAY_CHANGE_H_
