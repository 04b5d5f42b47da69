// Compares the overlay of a running job with the one that `banyan reconfigure` or another start of the scheduler
// brings, and says whether the job can change to it. Pure functions.
#ifndef BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_
#define BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/state/state_record.h"
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

// Returns the settings that the job's results and its nodes rest on, by their names in the file: nodes take them when
// they join, and all members must have the same.
JobSettings FixedSettings(const OverlayConfig& overlay);
// Likewise, with what only a reconfiguration may change while the job runs.
JobSettings StartSettings(const OverlayConfig& overlay);

// Compares the settings that a job has with those that the scheduler would give it now. FAILED_PRECONDITION names the
// first that differs, with both values, and says what to do. Settings that only one of them has are no difference.
absl::Status CompareSettings(const JobSettings& recorded, const JobSettings& now, const std::string& file_name);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_POLICY_OVERLAY_CHANGE_H_
