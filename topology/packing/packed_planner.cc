#include "topology/packing/packed_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "topology/evaluation/round_time.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/packed_trees.h"
#include "topology/packing/tree_packing.h"
#include "topology/planners/fapt_planner.h"
#include "topology/planners/policy_assembly.h"
#include "topology/planners/route_table.h"
#include "topology/tree_check.h"

namespace banyan {
namespace {

// Below what FAPT's own trees reach by more than the solver's rounding nothing is given up.
constexpr double kRounding = 1e-7;

// What a plan may miss: in large networks the last percent takes more time and more trees than it is worth.
struct Precision {
  size_t most_nodes;
  double accuracy;       // the part of the bound that the packing may miss
  double for_few_trees;  // the part of the packing's rate that fewer and shallower trees may cost
};

constexpr Precision kPrecisions[] = {
    {12, 1e-3, 5e-3}, {20, 5e-3, 1e-2}, {std::numeric_limits<size_t>::max(), 2e-2, 2e-2}};

const Precision& PrecisionFor(size_t nodes) {
  return *std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                       [nodes](const Precision& precision) { return nodes <= precision.most_nodes; });
}

// Larger networks have roots only where FAPT would have them, so that a plan takes no longer than it may.
constexpr size_t kMostNodesForAllRoots = 150;

// FAPT's plan: trees to begin with, and the roots that may be used.
absl::StatusOr<Policy> PlanFapt(const NetworkView& view, const PlannerConfig& config) {
  PlannerConfig fapt = config;
  fapt.planner = "fapt";
  return FaptPlanner().Plan(view, fapt);
}

// The best rate may need a root that FAPT would not choose.
std::set<NodeId> RootsFor(const NetworkView& view, const PlannerConfig& config, const std::vector<Tree>& fapt_trees) {
  std::set<NodeId> roots;
  if (config.roots.has_value() || view.nodes().size() > kMostNodesForAllRoots) {
    for (const Tree& tree : fapt_trees) roots.insert(tree.root);
  } else {
    for (const NetworkNode& node : view.nodes()) roots.insert(node.id);
  }
  return roots;
}

// The halves of trees all of whose edges are links.
void AddHalves(const std::vector<Tree>& trees, const NetworkView& view, std::vector<HalfTree>& halves) {
  for (const Tree& tree : trees) {
    for (const Half half : {Half::kReduce, Half::kBroadcast}) {
      std::optional<HalfTree> found = HalfOf(tree, half, view);
      if (found.has_value()) halves.push_back(*std::move(found));
    }
  }
}

// Trees of the policy in use that still span this view, on roots that may be used.
std::vector<Tree> UsableTrees(const std::vector<Tree>& trees, const std::set<NodeId>& roots, const NetworkView& view) {
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  std::vector<Tree> usable;
  for (const Tree& tree : trees) {
    if (roots.count(tree.root) > 0 && CheckTree(tree, members, view).ok()) usable.push_back(tree);
  }
  return usable;
}

// What a chunk needs to get over each link.
std::vector<double> ChunkSeconds(const NetworkView& view, int64_t chunk_max_elements) {
  std::vector<double> seconds;
  for (const NetworkLink& link : view.links()) {
    seconds.push_back(absl::ToDoubleSeconds(link.delay) +
                      static_cast<double>(chunk_max_elements) * kBitsPerElement / link.throughput_bps);
  }
  return seconds;
}

std::vector<Tree> TreesOf(const Selection& selection, const NetworkView& view) {
  std::vector<Tree> trees;
  double sum_bps = 0;
  for (const HalfPair& pair : PairHalves(selection)) {
    trees.push_back({.root = view.nodes()[selection.halves[pair.reduce].root].id,
                     .share = pair.volume_bps,
                     .reduce_parent = ParentsOf(selection.halves[pair.reduce], view),
                     .broadcast_parent = ParentsOf(selection.halves[pair.broadcast], view)});
    sum_bps += pair.volume_bps;
  }
  for (Tree& tree : trees) tree.share /= sum_bps;
  return trees;
}

// FAPT's trees to begin with, and those of the policy in use to look at.
PackingOptions OptionsFor(const NetworkView& view, const PlannerConfig& config, const std::vector<Tree>& fapt_trees) {
  PackingOptions options{.roots = {},
                         .seeds = {},
                         .candidates = {},
                         .accuracy = PrecisionFor(view.nodes().size()).accuracy,
                         .work = PackingWork(view.nodes().size())};
  const std::set<NodeId> roots = RootsFor(view, config, fapt_trees);
  for (const NodeId root : roots) options.roots.push_back(*view.IndexOf(root));
  AddHalves(fapt_trees, view, options.seeds);
  AddHalves(UsableTrees(config.current_trees, roots, view), view, options.candidates);
  return options;
}

}  // namespace

absl::StatusOr<Policy> PackedPlanner::Plan(const NetworkView& view, const PlannerConfig& config) const {
  absl::StatusOr<std::vector<Policy>> policies = PlanEach(view, config, {0.0});
  if (!policies.ok()) return policies.status();
  return std::move(policies->front());
}

absl::StatusOr<std::vector<Policy>> PackedPlanner::PlanEach(const NetworkView& view, const PlannerConfig& config,
                                                            absl::Span<const double> spare_parts) const {
  const absl::StatusOr<Policy> fapt = PlanFapt(view, config);
  if (!fapt.ok()) return fapt.status();
  RouteTable routes(&view);
  const auto assemble = [&](std::vector<Tree> trees) {
    return AssemblePolicy("packed", config, std::move(trees), routes);
  };
  if (view.nodes().size() < 2) return std::vector<Policy>(spare_parts.size(), assemble(fapt->trees));
  const CapacityGraph graph(view);
  const PackingOptions options = OptionsFor(view, config, fapt->trees);
  const TreePacking packing = PackTrees(graph, options);
  const double for_few_trees = PrecisionFor(view.nodes().size()).for_few_trees;
  std::vector<Policy> policies;
  for (const double spare : spare_parts) {
    const double floor_bps = std::max(packing.seeds_rate_bps, (1 - std::max(spare, for_few_trees)) * packing.rate_bps);
    const SelectionOptions selection{.rate_bps = std::min(floor_bps, (1 - kRounding) * packing.rate_bps),
                                     .delays = ChunkSeconds(view, config.chunk_max_elements),
                                     .work = options.work};
    std::vector<Tree> trees = fapt->trees;  // unless rounding errors defeat the solver
    if (packing.rate_bps > 0) trees = TreesOf(SelectHalves(graph, packing, selection), view);
    policies.push_back(assemble(std::move(trees)));
    policies.back().bound_bps = std::min(policies.back().bound_bps, packing.bound_bps);
  }
  return policies;
}

}  // namespace banyan
