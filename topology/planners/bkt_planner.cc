#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "topology/planners/planners.h"

namespace banyan {

absl::StatusOr<Policy> PlanBkt(const NetworkView& view, const PlannerConfig& config) {
  if (config.arity < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a balanced tree needs k of at least 1 child per node, got ", config.arity));
  }
  const size_t arity = static_cast<size_t>(config.arity);
  return PlanOneRoot("bkt", view, config, [&view, arity](NodeId root) {
    std::vector<NodeId> order = {root};
    for (const NetworkNode& node : view.nodes()) {
      if (node.id != root) order.push_back(node.id);
    }
    Tree tree;
    tree.root = root;
    for (size_t i = 1; i < order.size(); ++i) tree.reduce_parent.emplace(order[i], order[(i - 1) / arity]);
    tree.broadcast_parent = tree.reduce_parent;
    return tree;
  });
}

}  // namespace banyan
