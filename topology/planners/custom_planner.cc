#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/policy_check.h"

namespace banyan {
namespace {

bool NoneSaysItsShare(const std::vector<Tree>& trees) {
  for (const Tree& tree : trees) {
    if (tree.share != 0) return false;
  }
  return true;
}

using Parents = std::map<NodeId, NodeId>;

// Leaves nodes that are no members out of one half: their children go to the nearest member above them. Returns the
// members that are left without a parent, ascending; a cycle without a member leaves those below it without one too.
std::vector<NodeId> Contract(const std::set<NodeId>& members, NodeId root, Parents* parents) {
  Parents left;
  std::vector<NodeId> tops;
  for (const NodeId member : members) {
    auto at = parents->find(member);
    for (size_t steps = 0; at != parents->end() && !members.contains(at->second) && steps <= parents->size(); ++steps) {
      at = parents->find(at->second);
    }
    if (at != parents->end() && members.contains(at->second)) {
      left.emplace(member, at->second);
    } else if (member != root) {
      tops.push_back(member);
    }
  }
  *parents = std::move(left);
  return tops;
}

// Makes `root`, one of the members, the root of a half whose members without a parent are `tops`.
void HangBelow(NodeId root, const std::vector<NodeId>& tops, Parents* parents) {
  std::vector<NodeId> up = {root};
  for (auto at = parents->find(root); at != parents->end() && up.size() <= parents->size();) {
    up.push_back(at->second);
    at = parents->find(at->second);
  }
  parents->erase(root);
  for (size_t i = 1; i < up.size(); ++i) (*parents)[up[i]] = up[i - 1];
  for (const NodeId top : tops) {
    if (top != root) parents->try_emplace(top, root);
  }
}

bool NamesOthers(const Parents& parents, const std::set<NodeId>& members) {
  for (const auto& [node, parent] : parents) {
    if (!members.contains(node) || !members.contains(parent)) return true;
  }
  return false;
}

// Closes a tree around the nodes that are away, until they are back: their children go to the nearest member above
// them, and below the root's place to the lowest of its children.
void CloseAroundAbsent(const std::set<NodeId>& members, Tree* tree) {
  if (members.contains(tree->root) && !NamesOthers(tree->reduce_parent, members) &&
      !NamesOthers(tree->broadcast_parent, members)) {
    return;
  }
  const NodeId root = tree->root;
  const std::vector<NodeId> reduce_tops = Contract(members, root, &tree->reduce_parent);
  const std::vector<NodeId> broadcast_tops = Contract(members, root, &tree->broadcast_parent);
  if (members.contains(root) || reduce_tops.empty()) return;
  tree->root = reduce_tops.front();
  HangBelow(tree->root, reduce_tops, &tree->reduce_parent);
  HangBelow(tree->root, broadcast_tops, &tree->broadcast_parent);
}

}  // namespace

absl::StatusOr<Policy> PlanCustom(const NetworkView& view, const PlannerConfig& config) {
  if (absl::Status status = CheckPlannable(view); !status.ok()) return status;
  if (config.trees.empty()) {
    return absl::InvalidArgumentError("planner 'custom' needs at least one tree under topology.trees");
  }
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  std::vector<Tree> trees = config.trees;
  for (Tree& tree : trees) {
    CloseAroundAbsent(members, &tree);
    if (absl::Status status = CheckTree(tree, members, view); !status.ok()) return status;
  }
  RouteTable routes(&view);
  if (NoneSaysItsShare(trees)) ShareByQuality(trees, routes);
  Policy policy = AssemblePolicy("custom", config, std::move(trees), routes);
  if (absl::Status status = ValidatePolicy(policy, view); !status.ok()) return status;
  return policy;
}

}  // namespace banyan
