#include "topology/packing/packed_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "topology/evaluation/round_time.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/dense_packing.h"
#include "topology/packing/half_tree.h"
#include "topology/packing/packed_trees.h"
#include "topology/packing/priced_packing.h"
#include "topology/packing/tree_packing.h"
#include "topology/planners/planners.h"
#include "topology/planners/route_table.h"
#include "topology/policy_check.h"

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

const Precision& PrecisionFor(size_t nodes, absl::Span<const Precision> precisions = kPrecisions) {
  return *std::find_if(precisions.begin(), precisions.end(),
                       [nodes](const Precision& precision) { return nodes <= precision.most_nodes; });
}

// What a plan of a dense overlay may miss of the bound.
constexpr Precision kDensePrecisions[] = {{100, 3e-2, 2e-3}, {std::numeric_limits<size_t>::max(), 6e-2, 2e-3}};
// Where shallow trees miss more, linear programs try as well.
constexpr double kLeastDenseRatio = 0.96;
constexpr double kLeastDenseRatioOfMany = 0.75;

// Larger networks have roots only where FAPT would have them, so that a plan takes no longer than it may.
constexpr size_t kMostNodesForAllRoots = 150;

// FAPT's plan: trees to begin with, and the roots that may be used.
absl::StatusOr<Policy> FaptPlan(const NetworkView& view, const PlannerConfig& config) {
  PlannerConfig fapt = config;
  fapt.planner = "fapt";
  return PlanFapt(view, fapt);
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

std::vector<size_t> PositionsOf(const std::set<NodeId>& roots, const NetworkView& view) {
  std::vector<size_t> positions;
  for (const NodeId root : roots) positions.push_back(*view.IndexOf(root));
  return positions;
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

// Trees of the policy in use, on roots that may be used: those that still span this view, and those that do since nodes
// that joined became their leaves.
struct UsableTrees {
  std::vector<Tree> spanning;
  std::vector<Tree> extended;
};

UsableTrees FindUsable(const std::vector<Tree>& trees, const std::set<NodeId>& roots, const NetworkView& view) {
  std::set<NodeId> members;
  for (const NetworkNode& node : view.nodes()) members.insert(node.id);
  std::vector<Tree> smaller;
  UsableTrees usable;
  for (const Tree& tree : trees) {
    if (roots.count(tree.root) == 0) continue;
    const bool lacks_nodes = tree.reduce_parent.size() + 1 < members.size();
    if (lacks_nodes) smaller.push_back(tree);
    if (!lacks_nodes && CheckTree(tree, members, view).ok()) usable.spanning.push_back(tree);
  }
  for (Tree& tree : ExtendTrees(smaller, view)) {
    if (CheckTree(tree, members, view).ok()) usable.extended.push_back(std::move(tree));
  }
  return usable;
}

// What a chunk needs to get over each link, with floats for elements where the model is not known.
std::vector<double> ChunkSeconds(const NetworkView& view, const PlannerConfig& config) {
  const double element_bits = config.sent_part * (config.tensors.empty() ? 32 : WidestElementBits(config.tensors));
  const double bits = element_bits * static_cast<double>(config.chunk_max_elements);
  std::vector<double> seconds;
  for (const NetworkLink& link : view.links()) {
    seconds.push_back(absl::ToDoubleSeconds(link.delay) + bits / link.throughput_bps);
  }
  return seconds;
}

std::vector<Tree> TreesOf(const std::vector<HalfPair>& pairs, const std::vector<HalfTree>& halves,
                          const NetworkView& view) {
  std::vector<Tree> trees;
  double sum_bps = 0;
  for (const HalfPair& pair : pairs) {
    if (!(pair.volume_bps > 0)) continue;
    trees.push_back({.root = view.nodes()[halves[pair.reduce].root].id,
                     .share = pair.volume_bps,
                     .reduce_parent = ParentsOf(halves[pair.reduce], view),
                     .broadcast_parent = ParentsOf(halves[pair.broadcast], view)});
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
                         .work = PackingWork(view.nodes().size()),
                         .unwanted = config.unwanted};
  const std::set<NodeId> roots = RootsFor(view, config, fapt_trees);
  options.roots = PositionsOf(roots, view);
  AddHalves(fapt_trees, view, options.seeds);
  const UsableTrees usable = FindUsable(config.current_trees, roots, view);
  AddHalves(usable.extended, view, options.seeds);
  AddHalves(usable.spanning, view, options.candidates);
  return options;
}

bool IsGoodEnough(const Policy& dense) {
  const bool has_many = dense.members.size() > kMostNodesForPrograms;
  return dense.rate_bps >= (has_many ? kLeastDenseRatioOfMany : kLeastDenseRatio) * dense.bound_bps;
}

// Plans one view for one configuration.
class PackedPlans {
 public:
  PackedPlans(const NetworkView& view, const PlannerConfig& config)
      : view_(view), config_(config), graph_(view), routes_(&view) {}

  // Empty where the overlay is not dense or only some nodes may be roots, and where there are no shallow trees.
  std::vector<Policy> Dense(absl::Span<const double> spare_parts) {
    std::vector<Policy> policies;
    if (config_.roots.has_value() || config_.most_per_gb.has_value() || !IsDense(graph_)) return policies;
    std::vector<size_t> roots(graph_.nodes());
    std::iota(roots.begin(), roots.end(), size_t{0});
    const Precision& precision = PrecisionFor(graph_.nodes(), kDensePrecisions);
    const TreePacking packing = PackDense(graph_, roots, precision.accuracy, config_.unwanted);
    if (packing.rate_bps <= 0) return policies;
    for (const double spare : spare_parts) {
      const double rate_bps = (1 - std::max(spare, precision.for_few_trees)) * packing.rate_bps;
      std::vector<Tree> trees = TreesOf(LargestPairs(packing, rate_bps), packing.halves, view_);
      if (trees.empty()) return {};
      policies.push_back(Assemble(std::move(trees), packing.bound_bps));
    }
    KeepExtended(packing.bound_bps, policies.front());
    return policies;
  }

  absl::StatusOr<std::vector<Policy>> ByPrograms(absl::Span<const double> spare_parts) {
    const absl::StatusOr<Policy> fapt = FaptPlan(view_, config_);
    if (!fapt.ok()) return fapt.status();
    if (graph_.nodes() < 2) return std::vector<Policy>(spare_parts.size(), Assemble(fapt->trees, fapt->bound_bps));
    const PackingOptions options = OptionsFor(view_, config_, fapt->trees);
    const Packed packed = Pack(options, fapt->trees);
    const TreePacking& packing = packed.packing;
    const double for_few_trees = PrecisionFor(graph_.nodes()).for_few_trees;
    std::vector<Policy> policies;
    for (const double spare : spare_parts) {
      if (config_.IsUnwanted()) return absl::CancelledError("this plan is not needed any more");
      const double floor_bps =
          std::max(packing.seeds_rate_bps, (1 - std::max(spare, for_few_trees)) * packing.rate_bps);
      const SelectionOptions selection{.rate_bps = std::min(floor_bps, (1 - kRounding) * packing.rate_bps),
                                       .delays = ChunkSeconds(view_, config_),
                                       .work = options.work,
                                       .limit = packed.limit.has_value() ? &*packed.limit : nullptr,
                                       .unwanted = config_.unwanted};
      std::vector<Tree> trees;
      if (packing.rate_bps > 0) {
        const Selection selected = SelectHalves(graph_, packing, selection);
        trees = TreesOf(PairHalves(selected), selected.halves, view_);
      }
      // Where one link carries a millionth of another, rounding errors leave nothing.
      if (trees.empty()) trees = packed.otherwise;
      policies.push_back(Assemble(std::move(trees), packing.bound_bps));
    }
    return policies;
  }

 private:
  struct Packed {
    TreePacking packing;
    std::optional<PriceLimit> limit;
    std::vector<Tree> otherwise;  // where rounding errors defeat the solver
  };

  Packed Pack(const PackingOptions& options, const std::vector<Tree>& fapt_trees) const {
    if (!config_.most_per_gb.has_value()) return {PackTrees(graph_, options), std::nullopt, fapt_trees};
    PriceLimit limit(view_, *config_.most_per_gb);
    const CheapestTree cheapest = FindCheapestTree(graph_, limit, options.roots);
    limit.most = std::max(limit.most, cheapest.price);
    return {PackWithin(graph_, options, limit), limit,
            TreesOf({{.reduce = 0, .broadcast = 1, .volume_bps = 1}}, {cheapest.reduce, cheapest.broadcast}, view_)};
  }

  Policy Assemble(std::vector<Tree> trees, double bound_bps) {
    Policy policy = AssemblePolicy("packed", config_, std::move(trees), routes_);
    policy.bound_bps = std::min(policy.bound_bps, bound_bps);
    return policy;
  }

  // A node that joins makes nobody slower whose links are faster than the trees in use: these are kept if they are
  // faster than the plan when it is a leaf of all.
  void KeepExtended(double bound_bps, Policy& policy) {
    std::set<NodeId> roots(policy.members.begin(), policy.members.end());
    std::vector<Tree> trees = FindUsable(config_.current_trees, roots, view_).extended;
    double sum = 0;
    for (const Tree& tree : trees) sum += tree.share;
    if (!(sum > 0)) return;
    for (Tree& tree : trees) tree.share /= sum;
    Policy extended = Assemble(std::move(trees), bound_bps);
    if (extended.rate_bps > policy.rate_bps) policy = std::move(extended);
  }

  const NetworkView& view_;
  const PlannerConfig& config_;
  const CapacityGraph graph_;
  RouteTable routes_;
};

}  // namespace

absl::StatusOr<Policy> PlanPacked(const NetworkView& view, const PlannerConfig& config) {
  absl::StatusOr<std::vector<Policy>> policies = PlanPackedEach(view, config, {0.0});
  if (!policies.ok()) return policies.status();
  return std::move(policies->front());
}

absl::StatusOr<std::vector<Policy>> PlanPackedEach(const NetworkView& view, const PlannerConfig& config,
                                                   absl::Span<const double> spare_parts) {
  if (absl::Status status = CheckPlannable(view); !status.ok()) return status;
  PackedPlans plans(view, config);
  std::vector<Policy> dense = plans.Dense(spare_parts);
  if (!dense.empty() && (config.IsUnwanted() || IsGoodEnough(dense.front()))) return dense;
  absl::StatusOr<std::vector<Policy>> by_programs = plans.ByPrograms(spare_parts);
  if (dense.empty() || (by_programs.ok() && by_programs->front().rate_bps > dense.front().rate_bps)) return by_programs;
  return dense;
}

}  // namespace banyan
