// Planners by name, the configuration of a planner from an overlay, and policies from both. Pure functions.
#ifndef BANYAN_TOPOLOGY_PLANNER_FACTORY_H_
#define BANYAN_TOPOLOGY_PLANNER_FACTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "topology/network_view.h"
#include "topology/overlay/overlay_config.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Returns the names that MakePlanner knows, for messages and help.
std::vector<std::string> PlannerNames();

// Makes the planner called `name`. NOT_FOUND lists the known names.
absl::StatusOr<std::unique_ptr<Planner>> MakePlanner(absl::string_view name);

// Resolves the names in an overlay's `topology`, `multipath` and `chunks` sections. INVALID_ARGUMENT names the node
// that `view` lacks.
absl::StatusOr<PlannerConfig> MakePlannerConfig(const OverlayConfig& overlay, const NetworkView& view);

// Makes the planner that `config` names, runs it, and refines its policy (RefinePolicy). With fixed roots the policy
// has one tree for each of them, in their order and with their shares. INVALID_ARGUMENT when the trees of planner
// `custom` have other roots or shares.
absl::StatusOr<Policy> MakePolicy(const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNER_FACTORY_H_
