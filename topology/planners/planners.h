// The planners of one tree shape. Each returns trees over all nodes of `view`, with routes, shares by quality, rate and
// bound. MakePolicy adds what config.shares and config.auxiliary ask for beyond that, and the scheduler version, epoch
// and key table. FAILED_PRECONDITION when `view` is not connected in both directions. INVALID_ARGUMENT when it is empty
// or `config` does not fit it. Pure functions; the same input gives the same policy.
#ifndef BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_
#define BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_

#include "absl/status/statusor.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_PLANNERS_H_
