#include "topology/evaluation/policy_value.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "topology/evaluation/auxiliary_rate.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/evaluation/round_time.h"
#include "topology/path_links.h"

namespace banyan {
namespace {

// Chunks on auxiliary paths take longer and are in others' way: less is not worth it.
constexpr double kLeastAuxiliaryAdvantage = 0.02;

bool HasMembers(const Policy& policy, const NetworkView& view) {
  return std::equal(policy.members.begin(), policy.members.end(), view.nodes().begin(), view.nodes().end(),
                    [](NodeId member, const NetworkNode& node) { return member == node.id; });
}

// Whether every tree edge still has its primary path.
bool IsIntact(const Policy& policy, const NetworkView& view) {
  std::set<std::pair<NodeId, NodeId>> routed;
  for (const Route& route : policy.routes) {
    if (!LinksOfPath(route.path, view).has_value()) return false;
    routed.insert({route.from, route.to});
  }
  const auto carries = [&](NodeId from, NodeId to) {
    return routed.count({from, to}) > 0 || view.FindLink(from, to) != nullptr;
  };
  return std::all_of(policy.trees.begin(), policy.trees.end(), [&](const Tree& tree) {
    return std::all_of(tree.reduce_parent.begin(), tree.reduce_parent.end(),
                       [&](const auto& edge) { return carries(edge.first, edge.second); }) &&
           std::all_of(tree.broadcast_parent.begin(), tree.broadcast_parent.end(),
                       [&](const auto& edge) { return carries(edge.second, edge.first); });
  });
}

void SetRates(const NetworkView& view, Policy& policy) {
  policy.rate_bps = policy.auxiliary_rate_bps = 0;
  for (Route& auxiliary_path : policy.auxiliary) auxiliary_path.share = 0;
  if (!HasMembers(policy, view)) return;
  if (IsIntact(policy, view)) policy.rate_bps = PlanRateBps(policy, view);
  policy.auxiliary_rate_bps = policy.rate_bps;
  if (policy.auxiliary.empty()) return;
  const PathDivision division = DivideOverPaths(policy, view);
  if (division.rate_bps < (1 + kLeastAuxiliaryAdvantage) * policy.rate_bps) return;
  policy.auxiliary_rate_bps = division.rate_bps;
  for (size_t i = 0; i < division.shares.size(); ++i) policy.auxiliary[i].share = division.shares[i];
}

// Of a policy that is valued on the view. The prediction knows no auxiliary paths; what they add to the rate is taken
// off the time in which chunks flow.
absl::Duration RoundTimeOf(const Policy& policy, const NetworkView& view, const std::vector<PlannedTensor>& tensors,
                           double sent_part) {
  if (tensors.empty()) return absl::ZeroDuration();
  if (policy.auxiliary_rate_bps <= 0) return absl::InfiniteDuration();
  const double bits = sent_part * BitsOf(tensors);
  const absl::Duration on_auxiliary_path = absl::Seconds(bits / policy.auxiliary_rate_bps);
  if (policy.rate_bps <= 0) return on_auxiliary_path;
  return PredictRoundTime(policy, view, tensors, sent_part) - absl::Seconds(bits / policy.rate_bps) + on_auxiliary_path;
}

}  // namespace

void ValueOn(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy, double sent_part) {
  SetRates(view, policy);
  policy.round_time = RoundTimeOf(policy, view, tensors, sent_part);
}

void ValueAsPublished(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                      double sent_part) {
  const auto is_planned = [](const Route& auxiliary_path) { return auxiliary_path.share > 0; };
  const auto others = std::stable_partition(policy.auxiliary.begin(), policy.auxiliary.end(), is_planned);
  const std::vector<Route> unplanned(others, policy.auxiliary.end());
  policy.auxiliary.erase(others, policy.auxiliary.end());
  ValueOn(view, tensors, policy, sent_part);
  policy.auxiliary.insert(policy.auxiliary.end(), unplanned.begin(), unplanned.end());
}

}  // namespace banyan
