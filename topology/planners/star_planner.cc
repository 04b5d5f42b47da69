#include "topology/planners/planners.h"

namespace banyan {

absl::StatusOr<Policy> PlanStar(const NetworkView& view, const PlannerConfig& config) {
  return PlanOneRoot("star", view, config, [&view](NodeId root) {
    Tree tree;
    tree.root = root;
    for (const NetworkNode& node : view.nodes()) {
      if (node.id != root) tree.reduce_parent.emplace(node.id, root);
    }
    tree.broadcast_parent = tree.reduce_parent;
    return tree;
  });
}

}  // namespace banyan
