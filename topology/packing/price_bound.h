// The bound on the all-reduce rate that link prices prove: no scheme is faster than sum(capacity * price) over the
// least price, over all roots, of an in-arborescence and an out-arborescence together. It holds for any prices. Pure
// functions; the bound knows nothing of how the prices were found, so that it checks the certificate of a packing as
// well.
#ifndef BANYAN_TOPOLOGY_PACKING_PRICE_BOUND_H_
#define BANYAN_TOPOLOGY_PACKING_PRICE_BOUND_H_

#include <vector>

#include "topology/network_view.h"
#include "topology/packing/capacity_graph.h"

namespace banyan {

// The prices that a bit pays for what it loads, in any unit; none below 0. A link costs its own price and those of the
// caps at its ends and of what it shares.
struct CapacityPrices {
  std::vector<double> links;  // by position in view.links()
  std::vector<double> up;     // by position in view.nodes(); 0 for a node without that cap
  std::vector<double> down;
  std::vector<double> shared = {};  // by position in view.shared()

  friend bool operator==(const CapacityPrices&, const CapacityPrices&) = default;
};

// Returns the bound of the rate that `prices` prove, in bits of the model per second. Each bit of the model pays at
// least for the cheapest arborescence to some root and the cheapest one from it. All bits together cannot pay more than
// all capacity is worth: rate <= sum(capacity * price) / min over the roots of (cheapest arborescence to it + cheapest
// arborescence from it). The bound is infinite for fewer than two nodes and for a disconnected view. It is so too for
// prices that are no prices of this view, and where a root costs nothing.
double PriceBoundBps(const NetworkView& view, const CapacityPrices& prices);

// ---- prices for searches to begin with ----

// Returns two lists of prices, by number in the graph: all links alike, and the links, or the cap, of the node that can
// send or receive the least. The better of their bounds is the simple one (topology/evaluation/simple_bound.h).
std::vector<std::vector<double>> SimplePrices(const CapacityGraph& graph);

// Returns prices by number in the graph, 1 for each link between two groups of nodes and 0 for the others. Nodes are
// put together along the fastest links first, and of the groupings on the way the one that proves the least bound is
// taken: links within groups may be so fast that nobody can use them (rate_bound.h says what groups prove).
std::vector<double> GroupPrices(const CapacityGraph& graph);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PRICE_BOUND_H_
