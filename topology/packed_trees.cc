#include "topology/packed_trees.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/packing_program.h"
#include "topology/shallow_halves.h"

namespace banyan {
namespace {

// A half tree with less of the rate is a rounding error of the solver.
constexpr double kLeastPart = 1e-7;

// How much a path's whole delay counts beside what its links cost, in the half trees that are grown.
constexpr double kDelayWeights[] = {0.01, 0.1, 1, 10};

// A packing on its way to few half trees.
class Selector {
 public:
  Selector(const CapacityGraph& graph, const SelectionOptions& options) : graph_(graph), options_(options) {}

  Selection Run(const TreePacking& packing) {
    Keep(packing.halves, packing.volumes_bps);
    std::set<HalfTree> pool(selection_.halves.begin(), selection_.halves.end());
    for (const HalfTree& half : ShallowHalves(packing)) pool.insert(half);
    Improve({pool.begin(), pool.end()});
    Thin();
    Level();
    return std::move(selection_);
  }

 private:
  // Makes the selection of those half trees that carry something.
  void Keep(const std::vector<HalfTree>& halves, const std::vector<double>& volumes_bps) {
    Selection kept;
    for (size_t i = 0; i < halves.size(); ++i) {
      if (volumes_bps[i] <= kLeastPart * options_.rate_bps) continue;
      kept.halves.push_back(halves[i]);
      kept.volumes_bps.push_back(volumes_bps[i]);
    }
    selection_ = std::move(kept);
  }

  // For the roots that the packing uses.
  std::vector<HalfTree> ShallowHalves(const TreePacking& packing) const {
    std::set<size_t> roots;
    for (const HalfTree& half : selection_.halves) roots.insert(half.root);
    std::vector<double> costs;
    graph_.LinkCosts(packing.prices, costs);
    double cost_sum = 0;
    double delay_sum = 0;
    for (size_t i = 0; i < costs.size(); ++i) {
      cost_sum += costs[i];
      delay_sum += options_.delays[i];
    }
    std::vector<HalfTree> grown;
    for (const size_t root : roots) {
      for (const Half half : {Half::kReduce, Half::kBroadcast}) {
        for (const double weight : kDelayWeights) {
          grown.push_back(GrowHalf(graph_, half, root, costs, options_.delays, weight * cost_sum / delay_sum));
        }
      }
    }
    return grown;
  }

  PackingProgram ProgramOf(const std::vector<HalfTree>& halves) const {
    PackingProgram program = PackingProgram::AtLeast(&graph_, options_.rate_bps);
    const double slowest = *std::max_element(options_.delays.begin(), options_.delays.end());
    for (const HalfTree& half : halves) {
      program.Add(half, slowest > 0 ? DelayOfHalf(graph_, half, options_.delays) / slowest : 1);
    }
    return program;
  }

  // Replaces the selection by the one of least delay from the pool.
  void Improve(const std::vector<HalfTree>& pool) {
    if (options_.work <= 0) return;
    const absl::StatusOr<PackingSolution> solution = ProgramOf(pool).Solve();
    if (!solution.ok()) return;
    work_ += solution->work;
    Keep(pool, solution->volumes_bps);
  }

  // Leaves out those with the least volumes, as many at a time as possible, until none can be missed.
  void Thin() {
    if (work_ >= options_.work) return;
    const std::vector<HalfTree> halves = selection_.halves;
    PackingProgram program = ProgramOf(halves);
    absl::StatusOr<PackingSolution> solution = program.Solve();
    if (!solution.ok()) return;
    std::vector<double> volumes_bps = solution->volumes_bps;
    std::set<size_t> candidates;
    for (size_t i = 0; i < halves.size(); ++i) candidates.insert(i);
    size_t step = halves.size() / 2;
    while (step > 0 && !candidates.empty() && work_ < options_.work) {
      const std::vector<size_t> least = Least(candidates, volumes_bps, step);
      for (const size_t half : least) program.Exclude(half);
      solution = program.Solve();
      work_ += solution.ok() ? solution->work : static_cast<int64_t>(halves.size() * graph_.links().size());
      if (solution.ok()) {
        volumes_bps = std::move(solution->volumes_bps);
        for (const size_t half : least) candidates.erase(half);
        continue;
      }
      for (const size_t half : least) program.Include(half);
      if (step == 1) candidates.erase(least[0]);
      step = std::max<size_t>(1, step / 2);
    }
    Keep(halves, volumes_bps);
  }

  // Up to `count` of the candidates.
  static std::vector<size_t> Least(const std::set<size_t>& candidates, const std::vector<double>& volumes_bps,
                                   size_t count) {
    std::vector<size_t> order(candidates.begin(), candidates.end());
    std::stable_sort(order.begin(), order.end(),
                     [&volumes_bps](size_t a, size_t b) { return volumes_bps[a] < volumes_bps[b]; });
    order.resize(std::min(order.size(), count));
    return order;
  }

  // On each root, lowers the half that sums to more.
  void Level() {
    std::map<size_t, std::pair<double, double>> sums;
    const auto sum_of = [&sums](const HalfTree& half) -> double& {
      auto& [reduced, broadcast] = sums[half.root];
      return half.half == Half::kReduce ? reduced : broadcast;
    };
    for (size_t i = 0; i < selection_.halves.size(); ++i) sum_of(selection_.halves[i]) += selection_.volumes_bps[i];
    Selection level;
    for (size_t i = 0; i < selection_.halves.size(); ++i) {
      const auto& [reduced, broadcast] = sums[selection_.halves[i].root];
      const double volume_bps = selection_.volumes_bps[i] * std::min(reduced, broadcast) / sum_of(selection_.halves[i]);
      if (volume_bps <= 0) continue;
      level.halves.push_back(selection_.halves[i]);
      level.volumes_bps.push_back(volume_bps);
    }
    selection_ = std::move(level);
  }

  const CapacityGraph& graph_;
  const SelectionOptions& options_;
  Selection selection_;
  int64_t work_ = 0;
};

// Both lists hold positions and volumes that sum to the same. Takes the largest of each until nothing is left.
void PairOnRoot(std::vector<std::pair<double, size_t>> reduced, std::vector<std::pair<double, size_t>> broadcast,
                double least_bps, std::vector<HalfPair>& pairs) {
  const auto largest = [](std::vector<std::pair<double, size_t>>& halves) {
    return std::max_element(halves.begin(), halves.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && b.second < a.second);
    });
  };
  while (!reduced.empty() && !broadcast.empty()) {
    const auto from = largest(reduced);
    const auto to = largest(broadcast);
    const double volume_bps = std::min(from->first, to->first);
    if (volume_bps <= least_bps) return;
    pairs.push_back({from->second, to->second, volume_bps});
    from->first -= volume_bps;
    to->first -= volume_bps;
    if (from->first <= least_bps) reduced.erase(from);
    if (to->first <= least_bps) broadcast.erase(to);
  }
}

}  // namespace

Selection SelectHalves(const CapacityGraph& graph, const TreePacking& packing, const SelectionOptions& options) {
  return Selector(graph, options).Run(packing);
}

std::vector<HalfPair> PairHalves(const Selection& selection) {
  struct Halves {
    std::vector<std::pair<double, size_t>> reduced;
    std::vector<std::pair<double, size_t>> broadcast;
  };
  std::map<size_t, Halves> by_root;
  double sum_bps = 0;
  for (size_t i = 0; i < selection.halves.size(); ++i) {
    Halves& halves = by_root[selection.halves[i].root];
    const bool is_reduce = selection.halves[i].half == Half::kReduce;
    (is_reduce ? halves.reduced : halves.broadcast).emplace_back(selection.volumes_bps[i], i);
    if (is_reduce) sum_bps += selection.volumes_bps[i];
  }
  std::vector<HalfPair> pairs;
  for (const auto& [root, halves] : by_root) {
    PairOnRoot(halves.reduced, halves.broadcast, kLeastPart * sum_bps, pairs);
  }
  return pairs;
}

}  // namespace banyan
