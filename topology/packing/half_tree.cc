#include "topology/packing/half_tree.h"

#include <algorithm>

namespace banyan {

std::optional<HalfTree> HalfOf(const Tree& tree, Half half, const NetworkView& view) {
  const bool is_reduce = half == Half::kReduce;
  HalfTree made{half, *view.IndexOf(tree.root), {}};
  for (const auto& [node, parent] : is_reduce ? tree.reduce_parent : tree.broadcast_parent) {
    const NetworkLink* link = is_reduce ? view.FindLink(node, parent) : view.FindLink(parent, node);
    if (link == nullptr) return std::nullopt;
    made.links.push_back(static_cast<size_t>(link - view.links().data()));
  }
  std::sort(made.links.begin(), made.links.end());
  return made;
}

std::map<NodeId, NodeId> ParentsOf(const HalfTree& half, const NetworkView& view) {
  std::map<NodeId, NodeId> parents;
  for (const size_t position : half.links) {
    const NetworkLink& link = view.links()[position];
    if (half.half == Half::kReduce) {
      parents.emplace(link.from, link.to);
    } else {
      parents.emplace(link.to, link.from);
    }
  }
  return parents;
}

}  // namespace banyan
