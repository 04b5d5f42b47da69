#include "topology/planners/custom_planner.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "topology/planners/policy_assembly.h"
#include "topology/planners/route_table.h"
#include "topology/policy_check.h"
#include "topology/tree_check.h"

namespace banyan {
namespace {

bool NoneSaysItsShare(const std::vector<Tree>& trees) {
  for (const Tree& tree : trees) {
    if (tree.share != 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Policy> CustomPlanner::Plan(const NetworkView& view, const PlannerConfig& config) const {
  if (absl::Status status = CheckPlannable(view); !status.ok()) return status;
  if (config.trees.empty()) {
    return absl::InvalidArgumentError("planner 'custom' needs at least one tree under topology.trees");
  }
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  for (const Tree& tree : config.trees) {
    if (absl::Status status = CheckTree(tree, members, view); !status.ok()) return status;
  }
  RouteTable routes(&view);
  std::vector<Tree> trees = config.trees;
  if (NoneSaysItsShare(trees)) ShareByQuality(trees, routes);
  Policy policy = AssemblePolicy("custom", config, std::move(trees), routes);
  if (absl::Status status = ValidatePolicy(policy, view); !status.ok()) return status;
  return policy;
}

}  // namespace banyan
