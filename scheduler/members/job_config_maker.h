// Makes the configuration that a joining node gets from the overlay file. Pure function.
#ifndef BANYAN_SCHEDULER_MEMBERS_JOB_CONFIG_MAKER_H_
#define BANYAN_SCHEDULER_MEMBERS_JOB_CONFIG_MAKER_H_

#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/job_config.h"
#include "proto/policy_slice.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Returns the names of the overlay's nodes, by NodeId - 1.
std::vector<std::string> NodeNames(const OverlayConfig& overlay);

// REQUIRES: `node` is a position in the overlay's nodes, from 1.
JobConfig MakeJobConfig(const OverlayConfig& overlay, NodeId node);

// The part that comes with each policy, since it may change while the job runs.
TransmissionSettings MakeTransmissionSettings(const OverlayConfig& overlay);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_JOB_CONFIG_MAKER_H_
