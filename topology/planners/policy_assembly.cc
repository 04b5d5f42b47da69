#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/evaluation/policy_value.h"
#include "topology/evaluation/simple_bound.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"

namespace banyan {
namespace {

std::vector<Route> RoutesOfEdgesWithoutLink(const std::vector<Tree>& trees, RouteTable& routes) {
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const Tree& tree : trees) {
    for (const auto& [node, parent] : tree.reduce_parent) edges.insert({node, parent});
    for (const auto& [node, parent] : tree.broadcast_parent) edges.insert({parent, node});
  }
  std::vector<Route> found;
  for (const auto& [from, to] : edges) {
    if (routes.view().FindLink(from, to) == nullptr) found.push_back(routes.Find(from, to));
  }
  return found;
}

}  // namespace

absl::Status CheckPlannable(const NetworkView& view) {
  if (view.nodes().empty()) return absl::InvalidArgumentError("there is nothing to plan: the overlay has no nodes");
  return view.CheckConnected();
}

void ShareByQuality(std::vector<Tree>& trees, RouteTable& routes) {
  if (trees.size() == 1) {
    trees[0].share = 1;
    return;
  }
  double sum = 0;
  for (Tree& tree : trees) {
    tree.share = DelayOf(tree, routes).Quality();
    sum += tree.share;
  }
  for (Tree& tree : trees) tree.share /= sum;
}

Policy AssemblePolicy(absl::string_view planner, const PlannerConfig& config, std::vector<Tree> trees,
                      RouteTable& routes) {
  Policy policy;
  policy.planner = std::string(planner);
  for (const NetworkNode& node : routes.view().nodes()) policy.members.push_back(node.id);
  policy.routes = RoutesOfEdgesWithoutLink(trees, routes);
  policy.trees = std::move(trees);
  policy.chunk_max_elements = config.chunk_max_elements;
  policy.bound_bps = SimpleBoundBps(routes.view());
  ValueOn(routes.view(), config.tensors, policy, config.sent_part);
  return policy;
}

absl::StatusOr<Policy> PlanOneRoot(absl::string_view planner, const NetworkView& view, const PlannerConfig& config,
                                   absl::FunctionRef<Tree(NodeId root)> make_tree) {
  if (absl::Status status = CheckPlannable(view); !status.ok()) return status;
  RouteTable routes(&view);
  std::vector<Tree> best(1);
  if (config.root.has_value() && view.FindNode(*config.root) != nullptr) {
    best[0] = make_tree(*config.root);
  } else {
    double best_quality = -1;
    for (const NetworkNode& node : view.nodes()) {
      Tree tree = make_tree(node.id);
      const double quality = DelayOf(tree, routes).Quality();
      if (quality <= best_quality) continue;
      best_quality = quality;
      best[0] = std::move(tree);
    }
  }
  best[0].share = 1;
  return AssemblePolicy(planner, config, std::move(best), routes);
}

}  // namespace banyan
