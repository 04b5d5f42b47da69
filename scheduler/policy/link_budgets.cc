#include "scheduler/policy/link_budgets.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "compression/control/budget_share.h"
#include "core/check.h"
#include "proto/compression/codec_traits.h"
#include "proto/compression/ratio_numbers.h"
#include "topology/evaluation/plan_rate.h"

namespace banyan {
namespace {

constexpr int64_t kElementBytes = sizeof(float);
// A way up and a way down.
constexpr int kHalves = 2;
// While the tensors are not known: a model that takes so many times the budget on the fastest link.
constexpr double kUnknownModelBudgets = 10;

std::optional<BudgetConfig> FirstBudget(const CompressionConfig& compression) {
  for (const CompressionRule& rule : compression.rules) {
    if (rule.controller != RatioControllerKind::kBudget || !TraitsOf(rule.codec)->is_sparse) continue;
    const absl::StatusOr<RatioControllerConfig> config = MakeRatioControllerConfig(rule);
    BANYAN_CHECK(config.ok());
    return config->budget;
  }
  return std::nullopt;
}

class Sharing {
 public:
  Sharing(const Policy& policy, const NetworkView& view, const BudgetConfig& goal, double model_bytes)
      : policy_(policy), view_(view), goal_(goal), model_bytes_(model_bytes), loads_(LinkLoads(policy, view)) {
    for (const Route& route : policy.routes) routes_[{route.from, route.to}] = &route;
  }

  LinkBudgets Run() {
    for (const Tree& tree : policy_.trees) {
      ShareHalf(tree.share, tree.reduce_parent, /*is_upward=*/true);
      ShareHalf(tree.share, tree.broadcast_parent, /*is_upward=*/false);
    }
    return std::move(budgets_);
  }

 private:
  // The hops between a node and its parent, in the order towards the root, whichever way data takes them.
  std::vector<const NetworkLink*> Hops(NodeId node, NodeId parent, bool is_upward) const {
    const std::pair<NodeId, NodeId> ends = is_upward ? std::pair(node, parent) : std::pair(parent, node);
    const auto route = routes_.find(ends);
    const std::vector<NodeId> path =
        route == routes_.end() ? std::vector<NodeId>{ends.first, ends.second} : route->second->path;
    std::vector<const NetworkLink*> hops;
    for (size_t i = 0; i + 1 < path.size(); ++i) hops.push_back(view_.FindLink(path[i], path[i + 1]));
    if (!is_upward) std::reverse(hops.begin(), hops.end());
    return hops;
  }

  // A tree has its part of a link's rate.
  BudgetedLink MakeLink(const NetworkLink& link, double tree_share) const {
    const double all = loads_[static_cast<size_t>(&link - view_.links().data())];
    const auto bytes = static_cast<int64_t>(tree_share * model_bytes_);
    const int64_t chunk_bytes = policy_.chunk_max_elements * kElementBytes;
    return {.next = std::nullopt,
            .rate_bps = link.throughput_bps * std::min(1.0, tree_share / all),
            .delay = link.delay,
            .load_bytes = bytes,
            .first_bytes = std::min(bytes, chunk_bytes)};
  }

  void ShareHalf(double tree_share, const std::map<NodeId, NodeId>& parents, bool is_upward) {
    if (tree_share <= 0) return;
    std::vector<BudgetedLink> links;
    std::vector<const NetworkLink*> network_links;
    std::map<NodeId, int64_t> first_hop;  // of each node's way to the root
    std::map<NodeId, size_t> last_hop;    // of its way to its parent
    for (const auto& [node, parent] : parents) {
      first_hop[node] = static_cast<int64_t>(links.size());
      for (const NetworkLink* hop : Hops(node, parent, is_upward)) {
        links.push_back(MakeLink(*hop, tree_share));
        links.back().next = static_cast<int64_t>(links.size());
        network_links.push_back(hop);
      }
      last_hop[node] = links.size() - 1;
    }
    for (const auto& [node, parent] : parents) {
      const auto next = first_hop.find(parent);
      links[last_hop.at(node)].next = next == first_hop.end() ? std::nullopt : std::optional(next->second);
    }
    const auto shares = ShareBudget(links, goal_.budget / kHalves, goal_.least_ratio);
    BANYAN_CHECK(shares.ok());
    for (size_t i = 0; i < links.size(); ++i)
      Note(*network_links[i], absl::FDivDuration((*shares)[i].duration, goal_.budget));
  }

  void Note(const NetworkLink& link, double share) {
    if (!(share > 0)) return;
    double& least = budgets_.try_emplace({link.from, link.to}, 1.0).first->second;
    least = std::min(least, share);
  }

  const Policy& policy_;
  const NetworkView& view_;
  const BudgetConfig& goal_;
  const double model_bytes_;
  const std::vector<double> loads_;
  std::map<std::pair<NodeId, NodeId>, const Route*> routes_;
  LinkBudgets budgets_;
};

double FastestBps(const NetworkView& view) {
  double fastest = 0;
  for (const NetworkLink& link : view.links()) fastest = std::max(fastest, link.throughput_bps);
  return fastest;
}

}  // namespace

LinkBudgets MakeLinkBudgets(const Policy& policy, const NetworkView& view, const CompressionConfig& compression,
                            const std::vector<PlannedTensor>& tensors) {
  const std::optional<BudgetConfig> goal = FirstBudget(compression);
  if (!goal.has_value()) return {};
  double bytes = BitsOf(tensors) / 8;
  if (tensors.empty()) bytes = kUnknownModelBudgets * FastestBps(view) / 8 * absl::ToDoubleSeconds(goal->budget);
  return Sharing(policy, view, *goal, bytes).Run();
}

}  // namespace banyan
