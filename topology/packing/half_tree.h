// Half trees by the numbers of their links, and the trees of policies that they make. Pure functions.
#ifndef BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_
#define BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_

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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_HALF_TREE_H_
