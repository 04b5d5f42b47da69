// The delay of a tree (NETSTORM, Theorem 1): its slowest path under 1/throughput, in each half.
#ifndef BANYAN_TOPOLOGY_PLANNERS_TREE_DELAY_H_
#define BANYAN_TOPOLOGY_PLANNERS_TREE_DELAY_H_

#include "topology/planners/route_table.h"
#include "topology/policy.h"

namespace banyan {

// Seconds per bit.
struct TreeDelay {
  double reduce = 0;
  double broadcast = 0;

  // Larger is better; infinite for a tree without edges.
  double Quality() const { return 1 / (reduce + broadcast); }
};

// Edges without a link count with their whole route. The tree must pass CheckTree.
TreeDelay DelayOf(const Tree& tree, RouteTable& routes);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_TREE_DELAY_H_
