// The planners of one tree shape, and what all planners share. Pure functions; the same input gives the same policy.
#ifndef BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_
#define BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_

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

// ---- planners ----
//
// Each returns trees over all nodes of `view`, with routes, shares by quality, rate and bound. MakePolicy adds what
// config.shares and config.auxiliary ask for beyond that, and the scheduler version, epoch and key table.
// FAILED_PRECONDITION when `view` is not connected in both directions. INVALID_ARGUMENT when it is empty or `config`
// does not fit it.

// Fastest aggregation path trees, one for each of the best roots (NETSTORM, Definitions 2 and 3, Algorithms 1 and 2).
// Other roots are ordinary nodes of each tree.
absl::StatusOr<Policy> PlanFapt(const NetworkView& view, const PlannerConfig& config);

// Every node sends to one hub and hears from it, as with a central parameter server.
absl::StatusOr<Policy> PlanStar(const NetworkView& view, const PlannerConfig& config);

// A balanced tree in which each inner node has `arity` children, in order of NodeId after the root: it looks at no
// rates (the topology of MLNet, as NETSTORM compares with it).
absl::StatusOr<Policy> PlanBkt(const NetworkView& view, const PlannerConfig& config);

// A maximum-throughput spanning tree on one root: Prim's algorithm, each half by the throughput in its own direction
// (the topology of TSEngine, as NETSTORM compares with it).
absl::StatusOr<Policy> PlanMst(const NetworkView& view, const PlannerConfig& config);

// Trees that the user wrote down, checked, closed around nodes that are away, with routes where a link is missing.
absl::StatusOr<Policy> PlanCustom(const NetworkView& view, const PlannerConfig& config);

// ---- what they share: the check of the view, shares by quality, the choice of one root, a policy of trees ----
// (policy_assembly.cc)

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

#endif  // BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_
