// Trees of an overlay, for the same one after nodes have joined or gone. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_TREE_EXTENSION_H_
#define BANYAN_TOPOLOGY_PACKING_TREE_EXTENSION_H_

#include <vector>

#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Returns `trees` with every node of `view` that they lack as a leaf, so that their rate falls only where the new
// nodes' own links are too slow. Each tree takes the link that is then the least loaded for its capacity, those with
// the largest shares first. Trees that hold nodes of no view, and those that a new node has no link with, are left out.
std::vector<Tree> ExtendTrees(const std::vector<Tree>& trees, const NetworkView& view);

// Returns `trees` without the nodes that `view` lacks: who hung on one hangs on the next one towards the root, by a
// link or a route. Trees whose root is gone are left out.
std::vector<Tree> PruneTrees(const std::vector<Tree>& trees, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_TREE_EXTENSION_H_
