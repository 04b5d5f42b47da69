#include "topology/planner_factory.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "topology/auxiliary_paths.h"
#include "topology/evaluation/policy_value.h"
#include "topology/fit/model_fit.h"
#include "topology/fit/price_fit.h"
#include "topology/packing/packed_planner.h"
#include "topology/planners/planners.h"

namespace banyan {
namespace {

struct NamedPlanner {
  absl::string_view name;
  absl::StatusOr<Policy> (*plan)(const NetworkView& view, const PlannerConfig& config);
};

constexpr NamedPlanner kPlannersByName[] = {{"fapt", PlanFapt}, {"star", PlanStar},     {"bkt", PlanBkt},
                                            {"mst", PlanMst},   {"custom", PlanCustom}, {"packed", PlanPacked}};

// ---- the configuration ----

absl::StatusOr<NodeId> Resolve(const NetworkView& view, const std::string& name) {
  const NetworkNode* node = view.FindNodeByName(name);
  if (node == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("topology names '", name, "', which is not in the network"));
  }
  return node->id;
}

absl::StatusOr<std::map<NodeId, NodeId>> ResolveHalf(const NetworkView& view,
                                                     const std::map<std::string, std::string>& half) {
  std::map<NodeId, NodeId> resolved;
  for (const auto& [name, parent_name] : half) {
    const absl::StatusOr<NodeId> node = Resolve(view, name);
    if (!node.ok()) return node.status();
    const absl::StatusOr<NodeId> parent = Resolve(view, parent_name);
    if (!parent.ok()) return parent.status();
    resolved.emplace(*node, *parent);
  }
  return resolved;
}

absl::StatusOr<Tree> ResolveTree(const NetworkView& view, const CustomTreeConfig& config) {
  const absl::StatusOr<NodeId> root = Resolve(view, config.root);
  if (!root.ok()) return root.status();
  absl::StatusOr<std::map<NodeId, NodeId>> reduce = ResolveHalf(view, config.reduce);
  if (!reduce.ok()) return reduce.status();
  absl::StatusOr<std::map<NodeId, NodeId>> broadcast =
      ResolveHalf(view, config.broadcast.empty() ? config.reduce : config.broadcast);
  if (!broadcast.ok()) return broadcast.status();
  return Tree{.root = *root,
              .share = config.share.value_or(0),
              .reduce_parent = *std::move(reduce),
              .broadcast_parent = *std::move(broadcast)};
}

// ---- what a policy gets beyond its planner's trees ----

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

// Adds to `policy` what `config` asks for. With config.auxiliary, adds auxiliary paths within config.auxiliary_limits.
// With balanced shares, replaces the shares and drops the trees that get none; auxiliary paths are taken into account.
// Shares stay that are given (custom trees that say theirs) or are what is planned (packed). Packed trees for a model
// that is known plan no part for auxiliary paths: nodes use them only where a link is slower than planned.
void RefinePolicy(const PlannerConfig& config, const NetworkView& view, Policy& policy) {
  if (config.auxiliary) policy.auxiliary = FindAuxiliaryPaths(policy, view, config.auxiliary_limits);
  if (config.budget_per_round.has_value()) DropDearPaths(view, policy);
  if (config.shares == ShareRule::kBalanced && !SharesAreGiven(config) && policy.trees.size() > 1) {
    BalanceShares(view, policy);
  }
  Value(config, view, policy);
}

// ---- plans ----

PlannerConfig OfLeastPrice(PlannerConfig config) {
  config.most_per_gb = 0;
  return config;
}

absl::StatusOr<Policy> RunPlanner(const NetworkView& view, const PlannerConfig& config) {
  for (const auto& [name, plan] : kPlannersByName) {
    if (config.planner == name) return plan(view, config);
  }
  return absl::NotFoundError(
      absl::StrCat("there is no planner '", config.planner, "'; known are ", absl::StrJoin(PlannerNames(), ", ")));
}

}  // namespace

std::vector<std::string> PlannerNames() {
  std::vector<std::string> names;
  for (const auto& [name, plan] : kPlannersByName) names.emplace_back(name);
  return names;
}

absl::StatusOr<PlannerConfig> MakePlannerConfig(const OverlayConfig& overlay, const NetworkView& view) {
  PlannerConfig config;
  config.planner = overlay.topology.planner;
  config.roots = overlay.topology.roots;
  config.arity = overlay.topology.arity;
  config.shares = overlay.topology.shares;
  config.budget_per_round = overlay.topology.budget_per_round;
  config.auxiliary = overlay.multipath.enabled;
  config.chunk_max_elements = overlay.chunks.max_elements;
  config.chunk_min_elements = overlay.chunks.min_elements;
  if (overlay.topology.root.has_value()) {
    const absl::StatusOr<NodeId> root = Resolve(view, *overlay.topology.root);
    if (!root.ok()) return root.status();
    config.root = *root;
  }
  for (const CustomTreeConfig& tree_config : overlay.topology.trees) {
    absl::StatusOr<Tree> tree = ResolveTree(view, tree_config);
    if (!tree.ok()) return tree.status();
    config.trees.push_back(*std::move(tree));
  }
  return config;
}

absl::StatusOr<Policy> MakePolicy(const NetworkView& view, const PlannerConfig& config) {
  const bool in_haste = config.in_haste && config.planner == "packed";
  absl::StatusOr<Policy> policy = in_haste                              ? PlanInHaste(view, config)
                                  : FitsTreesToModel(config)            ? PlanForModel(view, config)
                                  : config.budget_per_round.has_value() ? RunPlanner(view, OfLeastPrice(config))
                                                                        : RunPlanner(view, config);
  if (!policy.ok()) return policy;
  if (config.IsUnwanted()) return absl::CancelledError("this plan is not needed any more");
  RefinePolicy(config, view, *policy);
  return policy;
}

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

absl::StatusOr<std::vector<NodeId>> HubsByRate(const NetworkView& view) {
  std::vector<std::pair<double, NodeId>> hubs;
  for (const NetworkNode& node : view.nodes()) {
    PlannerConfig config;
    config.planner = "star";
    config.root = node.id;
    const absl::StatusOr<Policy> policy = MakePolicy(view, config);
    if (!policy.ok()) return policy.status();
    hubs.emplace_back(policy->rate_bps, node.id);
  }
  std::stable_sort(hubs.begin(), hubs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<NodeId> nodes;
  for (const auto& [rate_bps, node] : hubs) nodes.push_back(node);
  return nodes;
}

}  // namespace banyan
