#include "topology/evaluation/auxiliary_rate.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/units.h"
#include "topology/evaluation/linear_program.h"
#include "topology/path_links.h"

namespace banyan {
namespace {

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

}  // namespace banyan
