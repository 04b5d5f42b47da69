#include "topology/planner_factory.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/fit/model_fit.h"
#include "topology/packing/packed_planner.h"
#include "topology/planners/bkt_planner.h"
#include "topology/planners/custom_planner.h"
#include "topology/planners/fapt_planner.h"
#include "topology/planners/mst_planner.h"
#include "topology/planners/star_planner.h"
#include "topology/policy_refinement.h"

namespace banyan {
namespace {

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

PlannerConfig OfLeastPrice(PlannerConfig config) {
  config.most_per_gb = 0;
  return config;
}

}  // namespace

std::vector<std::string> PlannerNames() { return {"fapt", "star", "bkt", "mst", "custom", "packed"}; }

absl::StatusOr<std::unique_ptr<Planner>> MakePlanner(absl::string_view name) {
  if (name == "fapt") return std::make_unique<FaptPlanner>();
  if (name == "star") return std::make_unique<StarPlanner>();
  if (name == "bkt") return std::make_unique<BktPlanner>();
  if (name == "mst") return std::make_unique<MstPlanner>();
  if (name == "custom") return std::make_unique<CustomPlanner>();
  if (name == "packed") return std::make_unique<PackedPlanner>();
  return absl::NotFoundError(
      absl::StrCat("there is no planner '", name, "'; known are ", absl::StrJoin(PlannerNames(), ", ")));
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
  const absl::StatusOr<std::unique_ptr<Planner>> planner = MakePlanner(config.planner);
  if (!planner.ok()) return planner.status();
  const bool in_haste = config.in_haste && config.planner == "packed";
  absl::StatusOr<Policy> policy = in_haste                              ? PlanInHaste(view, config)
                                  : FitsTreesToModel(config)            ? PlanForModel(view, config)
                                  : config.budget_per_round.has_value() ? (*planner)->Plan(view, OfLeastPrice(config))
                                                                        : (*planner)->Plan(view, config);
  if (!policy.ok()) return policy;
  if (config.IsUnwanted()) return absl::CancelledError("nobody wants this plan any more");
  RefinePolicy(config, view, *policy);
  return policy;
}

}  // namespace banyan
