#include "node/slice_check.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/policy_book.h"

namespace banyan {
namespace {

absl::Status Fault(const PolicySlice& slice, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("policy ", slice.version.value(), ": ", what));
}

std::vector<NodeId> TreeNeighbours(const TreeSlice& tree) {
  std::vector<NodeId> all = tree.reduce_children;
  all.insert(all.end(), tree.broadcast_children.begin(), tree.broadcast_children.end());
  if (tree.reduce_parent.has_value()) all.push_back(*tree.reduce_parent);
  if (tree.broadcast_parent.has_value()) all.push_back(*tree.broadcast_parent);
  return all;
}

bool IsAuxiliaryPath(const std::vector<NodeId>& path, NodeId self, const std::set<NodeId>& neighbours) {
  const bool begins_here = path.size() > 2 && path.front() == self && neighbours.count(path[1]) > 0;
  return begins_here && std::set<NodeId>(path.begin(), path.end()).size() == path.size();
}

}  // namespace

absl::Status CheckSlice(const PolicySlice& slice, NodeId self) {
  std::set<NodeId> neighbours;
  for (const NeighbourSlice& neighbour : slice.neighbours) {
    if (neighbour.node == self || !neighbours.insert(neighbour.node).second) {
      return Fault(slice, absl::StrCat("neighbour ", neighbour.node.value(), " is this node, or comes twice"));
    }
  }
  for (const RouteSlice& auxiliary_path : slice.auxiliary) {
    if (!IsAuxiliaryPath(auxiliary_path.path, self, neighbours)) {
      return Fault(slice, absl::StrCat("an auxiliary path of node ", self.value(),
                                       " does not begin there, or passes a node twice"));
    }
  }
  for (const TreeSlice& tree : slice.trees) {
    const bool is_root = tree.root == self;
    if (tree.reduce_parent.has_value() == is_root || tree.broadcast_parent.has_value() == is_root) {
      return Fault(slice, absl::StrCat("in the tree of root ", tree.root.value(), " node ", self.value(),
                                       is_root ? " has a parent" : " has no parent"));
    }
    for (NodeId neighbour : TreeNeighbours(tree)) {
      const std::vector<NodeId> path = PolicyBook::PathTo(slice, self, neighbour);
      if (path.size() < 2 || path.front() != self || neighbours.count(path[1]) == 0) {
        return Fault(slice, absl::StrCat("no way leads from node ", self.value(), " to ", neighbour.value(),
                                         " in the tree of root ", tree.root.value()));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace banyan
