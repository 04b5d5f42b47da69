// The configuration of a planner from an overlay, and policies by it. Pure functions.
#ifndef BANYAN_TOPOLOGY_PLANNER_FACTORY_H_
#define BANYAN_TOPOLOGY_PLANNER_FACTORY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Returns the names of all planners, for messages and help.
std::vector<std::string> PlannerNames();

// Resolves the names in an overlay's `topology`, `multipath` and `chunks` sections. INVALID_ARGUMENT names the node
// that `view` lacks.
absl::StatusOr<PlannerConfig> MakePlannerConfig(const OverlayConfig& overlay, const NetworkView& view);

// Runs the planner that `config` names, and adds what `config` asks for beyond its trees: auxiliary paths, balanced
// shares, and the rate with auxiliary paths. NOT_FOUND lists the known names; INVALID_ARGUMENT and FAILED_PRECONDITION
// are as in planners/planners.h.
absl::StatusOr<Policy> MakePolicy(const NetworkView& view, const PlannerConfig& config);

// Gives the policy in use, of that configuration, the shares of trees and auxiliary paths that suit a network which has
// changed since. Where the planner chooses shares by the links' rates together (packed, balanced shares), all shares
// change. Elsewhere those of the auxiliary paths change, which have none beside packed trees for a model. Its
// trees and paths stay, and its rates and round time are set (ValueOn).
void RefreshShares(const PlannerConfig& config, const NetworkView& view, Policy& policy);

// All nodes, from the hub whose star promises the highest rate to the one with the lowest. FAILED_PRECONDITION when the
// nodes are not connected.
absl::StatusOr<std::vector<NodeId>> HubsByRate(const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNER_FACTORY_H_
