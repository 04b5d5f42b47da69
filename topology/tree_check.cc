#include "topology/tree_check.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {
namespace {

absl::Status CheckHalf(const std::map<NodeId, NodeId>& parent_of, absl::string_view half, NodeId root,
                       const std::set<NodeId>& members, const NetworkView& view) {
  const std::string where = absl::StrCat("the ", half, " half of the tree on '", view.NameOf(root), "'");
  for (const auto& [node, parent] : parent_of) {
    const NodeId unknown = members.count(node) == 0 ? node : parent;
    if (members.count(unknown) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(where, " holds '", view.NameOf(unknown), "', which is no member"));
    }
    if (node == root) return absl::InvalidArgumentError(absl::StrCat(where, " gives its root a parent"));
  }
  // Nodes whose path to the root is known; each node is walked once.
  std::set<NodeId> rooted = {root};
  for (const NodeId member : members) {
    std::set<NodeId> walked;
    for (NodeId at = member; rooted.count(at) == 0;) {
      const auto found = parent_of.find(at);
      if (found == parent_of.end()) {
        return absl::InvalidArgumentError(absl::StrCat(where, " does not reach '", view.NameOf(at), "'"));
      }
      if (!walked.insert(at).second) {
        return absl::InvalidArgumentError(absl::StrCat(where, " has a cycle through '", view.NameOf(at), "'"));
      }
      at = found->second;
    }
    rooted.insert(walked.begin(), walked.end());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTree(const Tree& tree, const std::set<NodeId>& members, const NetworkView& view) {
  if (members.count(tree.root) == 0) {
    return absl::InvalidArgumentError(absl::StrCat("the tree's root '", view.NameOf(tree.root), "' is no member"));
  }
  absl::Status status = CheckHalf(tree.reduce_parent, "reduce", tree.root, members, view);
  if (!status.ok()) return status;
  return CheckHalf(tree.broadcast_parent, "broadcast", tree.root, members, view);
}

}  // namespace banyan
