// The planner that uses every link: trees whose loads fit the links and caps together at a rate close to the highest
// possible, which the policy's bound proves. FAPT takes the fastest path of each node as if it were alone. This one
// packs arborescences (tree_packing.h), then takes few of little delay (packed_trees.h). Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_PACKED_PLANNER_H_
#define BANYAN_TOPOLOGY_PACKING_PACKED_PLANNER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Plans as planners.h says. Where few or no links are missing between many nodes, trees are shallow and every node may
// be a root, unless config.roots says otherwise; the rate is close to the bound. Elsewhere the roots are among those
// that FAPT takes under this configuration, or any in networks that are not large, and the rate is at least what FAPT's
// trees reach with the best shares. A root may have several trees. The trees in use give the least rate, as far as new
// nodes can be their leaves. With config.most_per_gb the rate is close to the highest of plans that cost no more, by
// the links' prices; where even the cheapest trees cost more, the plan is of these.
absl::StatusOr<Policy> PlanPacked(const NetworkView& view, const PlannerConfig& config);

// Plans of one packing, one for each part: so much of the packing's rate it may give up for shallower trees, and what
// PlanPacked gives up in any case. REQUIRES: parts are below 1.
absl::StatusOr<std::vector<Policy>> PlanPackedEach(const NetworkView& view, const PlannerConfig& config,
                                                   absl::Span<const double> spare_parts);

// ---- trees in use, for the same overlay after nodes have joined or gone (tree_extension.cc) ----

// Returns `trees` with every node of `view` that they lack as a leaf, so that their rate falls only where the new
// nodes' own links are too slow. Each tree takes the link that is then the least loaded for its capacity, those with
// the largest shares first. Trees that hold nodes of no view, and those that a new node has no link with, are left out.
std::vector<Tree> ExtendTrees(const std::vector<Tree>& trees, const NetworkView& view);

// Returns `trees` without the nodes that `view` lacks: who hung on one hangs on the next one towards the root, by a
// link or a route. Trees whose root is gone are left out.
std::vector<Tree> PruneTrees(const std::vector<Tree>& trees, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PACKED_PLANNER_H_
