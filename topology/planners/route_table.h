// The path that a tree edge takes: its link, or else the fastest path under 1/throughput, among equally fast ones that
// over the lower ids. Fewest hops would follow the network layer more closely, but lets stars over slow short cuts look
// worse than they need to be. Thread-compatible; the view must outlive it. Paths of a source are found when first
// asked for.
#ifndef BANYAN_TOPOLOGY_PLANNERS_ROUTE_TABLE_H_
#define BANYAN_TOPOLOGY_PLANNERS_ROUTE_TABLE_H_

#include <cstddef>
#include <vector>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/planners/shortest_paths.h"
#include "topology/policy.h"

namespace banyan {

class RouteTable {
 public:
  explicit RouteTable(const NetworkView* view);

  const NetworkView& view() const { return *view_; }

  // Both nodes are of the view, and a path exists (NetworkView::CheckConnected).
  Route Find(NodeId from, NodeId to);
  // Seconds per bit: the sum of 1/throughput along the path.
  double Delay(NodeId from, NodeId to);

 private:
  const ShortestPathTree& PathsFrom(NodeId source);

  const NetworkView* view_;
  ShortestPaths searcher_;
  std::vector<ShortestPathTree> trees_;  // by position of the source in view.nodes(); empty until asked for
};

// The delay of a tree (NETSTORM, Theorem 1): its slowest path under 1/throughput, in each half. In seconds per bit.
struct TreeDelay {
  double reduce = 0;
  double broadcast = 0;

  // Larger is better; infinite for a tree without edges.
  double Quality() const { return 1 / (reduce + broadcast); }
};

// Edges without a link count with their whole route. The tree must pass CheckTree.
TreeDelay DelayOf(const Tree& tree, RouteTable& routes);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_ROUTE_TABLE_H_
