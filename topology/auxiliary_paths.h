// Auxiliary paths: auxiliary paths that a chunk may take between two neighbours of a tree while the link between them
// is busy (NETSTORM, section VI and Algorithm 3). The algorithm is read per tree edge: removing the links of all pairs
// at once would leave almost none. Pure function.
#ifndef BANYAN_TOPOLOGY_AUXILIARY_PATHS_H_
#define BANYAN_TOPOLOGY_AUXILIARY_PATHS_H_

#include <vector>

#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

struct AuxiliaryLimits {
  // Auxiliary paths of one tree edge. Each costs a queue at its sender; the first few have almost all of the gain.
  int max_paths_per_edge = 8;
  // Auxiliary paths of a policy, which bound the time that shares and rates take. Beyond it edges get fewer each, at
  // least one.
  int max_paths = 4096;
  // With more tree edges than this there are no auxiliary paths at all.
  int max_edges = 16384;
  // An auxiliary path on which a chunk takes longer than this many chunks, one after another, on the primary path is
  // left out: at the end of a round all would wait for it.
  double max_slowdown = 32;
};

// Finds auxiliary paths for every edge of the trees, in the direction that data flows (reduce: child to parent,
// broadcast: parent to child). The first is the fastest path under the sum of 1/throughput over links that the primary
// path does not use. Each further one also avoids the links of the edge's earlier auxiliary paths, until none is left
// or `limits` end it. Of equally fast paths the one with fewer hops is taken, then the one that the search finds first,
// going to lower ids first. The primary path is the edge's link, or its route in policy.routes. Returns them ascending
// by (from, to), within one edge the fastest first, as Policy::auxiliary wants them. REQUIRES: trees and routes are
// valid for the view.
std::vector<Route> FindAuxiliaryPaths(const Policy& policy, const NetworkView& view, const AuxiliaryLimits& limits);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_AUXILIARY_PATHS_H_
