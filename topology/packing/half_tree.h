// Half trees by the numbers of their links, the trees of policies that they make, and what they may cost. Values and
// pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_
#define BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/packing/arborescence.h"
#include "topology/policy.h"

namespace banyan {

// A spanning arborescence to a root or from it. Links and nodes have the numbers of their positions in the view.
struct HalfTree {
  Half half = Half::kReduce;
  size_t root = 0;
  std::vector<size_t> links;  // ascending

  friend bool operator==(const HalfTree&, const HalfTree&) = default;
  friend bool operator<(const HalfTree& a, const HalfTree& b) {
    return std::tie(a.half, a.root, a.links) < std::tie(b.half, b.root, b.links);
  }
};

// Empty when an edge of that half has no link. REQUIRES: the tree spans the view (CheckTree).
std::optional<HalfTree> HalfOf(const Tree& tree, Half half, const NetworkView& view);

// Returns the parents as in Tree: node -> the node that it sends its sum to, or that it gets results from.
std::map<NodeId, NodeId> ParentsOf(const HalfTree& half, const NetworkView& view);

// What sending may cost in money. A round costs what each link charges for the bytes that cross it, whatever its rate.
// A plan costs the volumes of its half trees times what their links charge, which is limited per bit of the model. In
// any unit, such as a price for 10^9 bytes, that is the same for all. A value.
struct PriceLimit {
  PriceLimit(const NetworkView& view, double limit) : most(limit) {
    for (const NetworkLink& link : view.links()) link_prices.push_back(link.price_per_gb);
  }

  double PriceOf(const HalfTree& half) const {
    double price = 0;
    for (const size_t link : half.links) price += link_prices[link];
    return price;
  }

  // What the numbers are about as large as; above 0.
  double Scale() const {
    const double dearest = *std::max_element(link_prices.begin(), link_prices.end());
    return most > 0 ? most : dearest > 0 ? dearest : 1;
  }

  std::vector<double> link_prices;  // by link
  double most = 0;                  // that a bit of the model may pay, summed over all links that it crosses
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_
