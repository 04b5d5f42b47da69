#include "topology/hub_order.h"

#include <algorithm>
#include <utility>

#include "topology/planner.h"
#include "topology/planner_factory.h"

namespace banyan {

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
