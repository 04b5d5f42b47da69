#include "topology/evaluation/policy_value.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/units.h"
#include "topology/evaluation/linear_program.h"
#include "topology/evaluation/plan_rate.h"
#include "topology/evaluation/round_time.h"
#include "topology/network_view.h"

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

// The solver wants numbers that are neither huge nor tiny.

using Links = std::vector<size_t>;  // positions in view.links()

struct AuxiliaryPath {
  size_t index = 0;  // in Policy::auxiliary
  Links links;
};

struct Edge {
  std::optional<Links> primary;
  std::vector<AuxiliaryPath> auxiliary_paths;
  std::map<size_t, double> loads;  // how often the volume of each variable crosses the edge
};

using Edges = std::map<std::pair<NodeId, NodeId>, Edge>;

// One variable per tree, or one for all together that spreads by the shares.
Edges EdgesOf(const Policy& policy, const NetworkView& view, bool one_variable) {
  Edges edges;
  for (size_t i = 0; i < policy.trees.size(); ++i) {
    const Tree& tree = policy.trees[i];
    const size_t variable = one_variable ? 0 : i;
    const double load = one_variable ? tree.share : 1;
    for (const auto& [node, parent] : tree.reduce_parent) edges[{node, parent}].loads[variable] += load;
    for (const auto& [node, parent] : tree.broadcast_parent) edges[{parent, node}].loads[variable] += load;
  }
  for (auto& [ends, edge] : edges) edge.primary = LinksOfPath({ends.first, ends.second}, view);
  for (const Route& route : policy.routes) {
    const auto found = edges.find({route.from, route.to});
    if (found != edges.end()) found->second.primary = LinksOfPath(route.path, view);
  }
  for (size_t i = 0; i < policy.auxiliary.size(); ++i) {
    const Route& auxiliary_path = policy.auxiliary[i];
    const auto found = edges.find({auxiliary_path.from, auxiliary_path.to});
    std::optional<Links> links = LinksOfPath(auxiliary_path.path, view);
    if (found != edges.end() && links.has_value()) found->second.auxiliary_paths.push_back({i, *std::move(links)});
  }
  return edges;
}

// Rows for the links, caps and shared capacities of a view, to which paths add what they carry.
class CapacityRows {
 public:
  CapacityRows(const NetworkView& view, LinearProgram& program) : view_(view), program_(program) {
    for (const NetworkLink& link : view.links())
      links_.push_back(program.AddRow(link.throughput_bps / kBitsPerMegabit));
    for (const NetworkNode& node : view.nodes()) {
      if (node.up_cap_bps.has_value()) up_[node.id] = program.AddRow(*node.up_cap_bps / kBitsPerMegabit);
      if (node.down_cap_bps.has_value()) down_[node.id] = program.AddRow(*node.down_cap_bps / kBitsPerMegabit);
    }
    for (const SharedCapacity& shared : view.shared()) {
      shared_.push_back(program.AddRow(shared.capacity_bps / kBitsPerMegabit));
    }
  }

  void Load(const Links& path, int variable, double volume) {
    for (const size_t link : path) {
      program_.AddTerm(links_[link], variable, volume);
      if (const auto up = up_.find(view_.links()[link].from); up != up_.end()) {
        program_.AddTerm(up->second, variable, volume);
      }
      if (const auto down = down_.find(view_.links()[link].to); down != down_.end()) {
        program_.AddTerm(down->second, variable, volume);
      }
      for (const size_t shared : view_.SharedBy(link)) program_.AddTerm(shared_[shared], variable, volume);
    }
  }

 private:
  const NetworkView& view_;
  LinearProgram& program_;
  std::vector<int> links_;
  std::map<NodeId, int> up_;
  std::map<NodeId, int> down_;
  std::vector<int> shared_;
};

// What a bit on an auxiliary path costs beside one that arrives: of the ways to reach the highest rate that is taken
// which needs the fewest auxiliary paths, since no sender uses them ideally. Too little to lower the rate by more than
// a few millionths.
constexpr double kAuxiliaryPathCost = 1e-5;

// What the auxiliary paths carry is taken off the primary path, which leaves one variable less per edge than a flow for
// each path. A primary path that has vanished carries nothing, so its auxiliary paths must carry everything.
void AddPrimaryEdge(const Edge& edge, double auxiliary_gain, CapacityRows& capacity, LinearProgram& program) {
  const int row = program.AddRow(0);
  const double sign = edge.primary.has_value() ? 1 : -1;
  for (const auto& [variable, load] : edge.loads) {
    program.AddTerm(row, static_cast<int>(variable), -sign * load);
    if (edge.primary.has_value()) capacity.Load(*edge.primary, static_cast<int>(variable), load);
  }
  for (const AuxiliaryPath& auxiliary_path : edge.auxiliary_paths) {
    const int flow = program.AddVariable(auxiliary_gain);
    program.AddTerm(row, flow, sign);
    capacity.Load(auxiliary_path.links, flow, 1);
    if (edge.primary.has_value()) capacity.Load(*edge.primary, flow, -1);
  }
}

// What is less is a rounding error of the solver, or worth as little.
constexpr double kLeastShare = 1e-6;

double RoundShare(double share) { return share < kLeastShare ? 0 : std::min(1.0, share); }

// The first values are the volumes in Mbit/s, of each tree or of all; then come the flows on the auxiliary paths, edge
// by edge.
absl::StatusOr<LinearSolution> BestFlows(const Edges& edges, const NetworkView& view, size_t volumes) {
  LinearProgram program;
  for (size_t i = 0; i < volumes; ++i) program.AddVariable(1);
  CapacityRows capacity(view, program);
  for (const auto& [ends, edge] : edges) AddPrimaryEdge(edge, -kAuxiliaryPathCost, capacity, program);
  return program.Maximise();
}

}  // namespace

PathDivision DivideOverPaths(const Policy& policy, const NetworkView& view) {
  PathDivision division;
  division.shares.assign(policy.auxiliary.size(), 0);
  const Edges edges = EdgesOf(policy, view, true);
  const absl::StatusOr<LinearSolution> flows = BestFlows(edges, view, 1);
  if (absl::IsOutOfRange(flows.status())) division.rate_bps = std::numeric_limits<double>::infinity();
  if (!flows.ok() || flows->values[0] <= 0) return division;
  division.rate_bps = flows->values[0] * kBitsPerMegabit;
  size_t flow = 1;
  for (const auto& [ends, edge] : edges) {
    const double volume = edge.loads.at(0) * flows->values[0];
    for (const AuxiliaryPath& auxiliary_path : edge.auxiliary_paths)
      division.shares[auxiliary_path.index] = RoundShare(flows->values[flow++] / volume);
  }
  return division;
}

double AuxiliaryRateBps(const Policy& policy, const NetworkView& view) {
  return DivideOverPaths(policy, view).rate_bps;
}

std::vector<double> BalancedShares(const Policy& policy, const NetworkView& view) {
  std::vector<double> shares;
  for (const Tree& tree : policy.trees) shares.push_back(tree.share);
  const absl::StatusOr<LinearSolution> flows = BestFlows(EdgesOf(policy, view, false), view, shares.size());
  if (!flows.ok()) return shares;
  const double sum = std::accumulate(flows->values.begin(), flows->values.begin() + shares.size(), 0.0);
  if (sum <= 0) return shares;
  for (size_t i = 0; i < shares.size(); ++i) shares[i] = RoundShare(flows->values[i] / sum);
  return shares;
}

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
