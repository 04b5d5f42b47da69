// Helpers that all planners share: the check of the view, shares by quality, the choice of one root, and making a
// policy of trees. Pure functions.
#ifndef BANYAN_TOPOLOGY_PLANNERS_POLICY_ASSEMBLY_H_
#define BANYAN_TOPOLOGY_PLANNERS_POLICY_ASSEMBLY_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/planners/route_table.h"
#include "topology/policy.h"

namespace banyan {

// INVALID_ARGUMENT for a view without nodes, FAILED_PRECONDITION for a disconnected one.
absl::Status CheckPlannable(const NetworkView& view);

// Sets the trees' shares in proportion to their quality.
void ShareByQuality(std::vector<Tree>& trees, RouteTable& routes);

// A policy over all nodes of the routes' view: adds routes for tree edges without a link, rate and bound. The trees
// must pass CheckTree.
Policy AssemblePolicy(absl::string_view planner, const PlannerConfig& config, std::vector<Tree> trees,
                      RouteTable& routes);

// A policy of one tree: the one `make_tree` makes for config.root, or, without one in `view`, for the root of the best
// quality, of equal ones the lowest NodeId.
absl::StatusOr<Policy> PlanOneRoot(absl::string_view planner, const NetworkView& view, const PlannerConfig& config,
                                   absl::FunctionRef<Tree(NodeId root)> make_tree);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_POLICY_ASSEMBLY_H_
