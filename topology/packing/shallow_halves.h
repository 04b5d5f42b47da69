// Half trees that trade what their links cost for little delay. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_SHALLOW_HALVES_H_
#define BANYAN_TOPOLOGY_PACKING_SHALLOW_HALVES_H_

#include <cstddef>

#include "absl/types/span.h"
#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

namespace banyan {

// The slowest path between the root and any node, when each link takes `delays`, by link.
double DelayOfHalf(const CapacityGraph& graph, const HalfTree& half, absl::Span<const double> delays);

// Grows a half tree from its root, each time by the link with the least cost plus `weight` times the delay of the whole
// path. Weight 0 gives a tree of cheap links, a large weight that of the fastest paths. This is the method of Alpert
// and others, "Prim-Dijkstra tradeoffs for improved performance-driven routing tree design", 1995. Ties go to the lower
// link. REQUIRES: the graph is connected in both directions.
HalfTree GrowHalf(const CapacityGraph& graph, Half half, size_t root, absl::Span<const double> costs,
                  absl::Span<const double> delays, double weight);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_SHALLOW_HALVES_H_
