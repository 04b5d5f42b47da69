// Trees whose roots and shares are given, routed around each other. Pure function.
#ifndef BANYAN_TOPOLOGY_PACKING_TREE_REROUTING_H_
#define BANYAN_TOPOLOGY_PACKING_TREE_REROUTING_H_

#include <vector>

#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Takes one half of a tree after the other off the links and puts it back as the arborescence that costs least where
// loaded links are expensive, as long as that helps (a local search on the sum of high powers of the loads). Roots,
// shares and order stay, and the plan's rate is never lower. REQUIRES: the trees span the view, all of whose nodes
// reach each other, and each tree edge has a link.
std::vector<Tree> RerouteTrees(const NetworkView& view, std::vector<Tree> trees);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_TREE_REROUTING_H_
