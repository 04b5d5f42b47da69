#include "topology/policy_refinement.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "topology/auxiliary_paths.h"
#include "topology/detour_rate.h"
#include "topology/plan_rate.h"

namespace banyan {
namespace {

// A tree with less than this is a rounding error of the solver, or worth as little.
constexpr double kLeastShare = 1e-6;

bool SharesAreGiven(const PlannerConfig& config) {
  if (!config.fixed_roots.empty()) return true;
  if (config.planner != "custom") return false;
  return std::any_of(config.trees.begin(), config.trees.end(), [](const Tree& tree) { return tree.share != 0; });
}

// Removes the paths of edges that no tree has any more.
void DropUnusedPaths(const std::vector<Tree>& trees, std::vector<Route>& paths) {
  std::set<std::pair<NodeId, NodeId>> edges;
  for (const Tree& tree : trees) {
    for (const auto& [node, parent] : tree.reduce_parent) edges.insert({node, parent});
    for (const auto& [node, parent] : tree.broadcast_parent) edges.insert({parent, node});
  }
  std::erase_if(paths, [&edges](const Route& path) { return edges.count({path.from, path.to}) == 0; });
}

void BalanceShares(const NetworkView& view, Policy& policy) {
  const std::vector<double> shares = BalancedShares(policy, view);
  std::vector<Tree> kept;
  double sum = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] < kLeastShare) continue;
    kept.push_back(std::move(policy.trees[i]));
    kept.back().share = shares[i];
    sum += shares[i];
  }
  for (Tree& tree : kept) tree.share /= sum;
  policy.trees = std::move(kept);
  DropUnusedPaths(policy.trees, policy.routes);
  DropUnusedPaths(policy.trees, policy.auxiliary);
  policy.rate_bps = PlanRateBps(policy, view);
}

}  // namespace

void RefinePolicy(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  if (config.auxiliary) policy.auxiliary = FindAuxiliaryPaths(policy, view, config.auxiliary_limits);
  if (config.shares == ShareRule::kBalanced && !SharesAreGiven(config) && policy.trees.size() > 1) {
    BalanceShares(view, policy);
  }
  policy.detour_rate_bps = policy.rate_bps;
  if (policy.auxiliary.empty()) return;
  policy.detour_rate_bps = std::max(policy.rate_bps, DetourRateBps(policy, view));
  const std::vector<double> shares = DetourShares(policy, view);
  for (size_t i = 0; i < shares.size(); ++i)
    policy.auxiliary[i].share = shares[i] < kLeastShare ? 0 : std::min(1.0, shares[i]);
}

}  // namespace banyan
