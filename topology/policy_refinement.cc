#include "topology/policy_refinement.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "topology/auxiliary_paths.h"
#include "topology/evaluation/auxiliary_rate.h"
#include "topology/evaluation/policy_value.h"
#include "topology/fit/price_fit.h"

namespace banyan {
namespace {

bool SharesAreGiven(const PlannerConfig& config) {
  if (config.planner == "packed") return true;  // they are what it plans
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
    if (shares[i] == 0) continue;
    kept.push_back(std::move(policy.trees[i]));
    kept.back().share = shares[i];
    sum += shares[i];
  }
  for (Tree& tree : kept) tree.share /= sum;
  policy.trees = std::move(kept);
  DropUnusedPaths(policy.trees, policy.routes);
  DropUnusedPaths(policy.trees, policy.auxiliary);
}

// Trees that were chosen for a model gave up rate for fewer hops. Auxiliary paths would add just that rate, and they
// are more hops.
void Value(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  if (!FitsTreesToModel(config)) return ValueOn(view, config.tensors, policy, config.sent_part);
  std::vector<Route> auxiliary_paths = std::exchange(policy.auxiliary, {});
  ValueOn(view, config.tensors, policy, config.sent_part);
  for (Route& auxiliary_path : auxiliary_paths) auxiliary_path.share = 0;
  policy.auxiliary = std::move(auxiliary_paths);
}

// Keeps the price of a round and of what auxiliary paths may carry within the budget; false where shares cannot.
bool HoldBudget(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  if (!config.budget_per_round.has_value() || config.tensors.empty()) return true;
  DropDearPaths(view, policy);
  return HoldPrice(view, config.tensors, *config.budget_per_round, policy);
}

}  // namespace

void RefreshShares(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  const bool is_packed = config.planner == "packed";
  const bool is_balanced = is_packed || (config.shares == ShareRule::kBalanced && !SharesAreGiven(config));
  Value(config, view, policy);
  if (!is_balanced || policy.rate_bps <= 0 || policy.trees.size() < 2) return;
  Policy before = policy;
  // Packed trees use the links themselves and do not count on auxiliary paths.
  std::vector<Route> auxiliary_paths;
  if (is_packed) std::swap(auxiliary_paths, policy.auxiliary);
  BalanceShares(view, policy);
  if (is_packed) {
    DropUnusedPaths(policy.trees, auxiliary_paths);
    policy.auxiliary = std::move(auxiliary_paths);
  }
  // What the balance has left may be the dear trees alone.
  if (!HoldBudget(config, view, policy)) policy = std::move(before);
  Value(config, view, policy);
}

void RefinePolicy(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  if (config.auxiliary) policy.auxiliary = FindAuxiliaryPaths(policy, view, config.auxiliary_limits);
  if (config.budget_per_round.has_value()) DropDearPaths(view, policy);
  if (config.shares == ShareRule::kBalanced && !SharesAreGiven(config) && policy.trees.size() > 1) {
    BalanceShares(view, policy);
  }
  Value(config, view, policy);
}

}  // namespace banyan
