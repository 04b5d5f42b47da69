// Shortest paths to and from one node under 1/throughput (NETSTORM, Definition 1 with processing overlapped, and the
// path search of Algorithm 1). Thread-compatible; independent of the view after construction. Nodes are positions in
// view.nodes().
#ifndef BANYAN_TOPOLOGY_PLANNERS_SHORTEST_PATHS_H_
#define BANYAN_TOPOLOGY_PLANNERS_SHORTEST_PATHS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "topology/network_view.h"

namespace banyan {

struct ShortestPathTree {
  // The neighbour on the root's side of each node's path; the root's is itself.
  std::vector<size_t> parent;
  // Seconds per bit along each node's path; infinite when there is none.
  std::vector<double> distance;

  // The slowest path.
  double Depth() const;
};

class ShortestPaths {
 public:
  explicit ShortestPaths(const NetworkView& view);
  ~ShortestPaths();
  ShortestPaths(const ShortestPaths&) = delete;
  ShortestPaths& operator=(const ShortestPaths&) = delete;

  // Paths from every node to the root; of equally fast parents the one with the lower id.
  ShortestPathTree ToRoot(size_t root) const;
  // Paths from the root to every node, likewise.
  ShortestPathTree FromRoot(size_t root) const;

 private:
  struct Graphs;
  std::unique_ptr<const Graphs> graphs_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PLANNERS_SHORTEST_PATHS_H_
