#include "topology/packing/packed_trees.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "core/check.h"
#include "topology/packing/packing_program.h"

namespace banyan {
namespace {

// A half tree with less of the rate is a rounding error of the solver.
constexpr double kLeastPart = 1e-7;

// How much a path's whole delay counts beside what its links cost, in the half trees that are grown: 1 is right for a
// path that alone decides, less where other paths are as slow, more where prices are low.
constexpr double kDelayWeights[] = {0.01, 0.03, 0.1, 0.3, 1, 3, 10};

// Half trees are grown at the prices of a selection kMostGrowths times at most, and as long as each time takes
// kLeastGain of its delay. That is where shallow trees of a high rate come from.
constexpr int kMostGrowths = 10;
constexpr double kLeastGain = 1e-3;
// What that costs each time, for each half tree and link.
constexpr size_t kGrowthWork = 2;

// A packing on its way to few half trees.
class Selector {
 public:
  Selector(const CapacityGraph& graph, const SelectionOptions& options) : graph_(graph), options_(options) {
    const double slowest = *std::max_element(options.delays.begin(), options.delays.end());
    for (const double delay : options.delays) delays_.push_back(slowest > 0 ? delay / slowest : 1);
  }

  Selection Run(const TreePacking& packing) {
    Keep(packing.halves, packing.volumes_bps);
    Improve();
    Thin();
    Level();
    for (const HalfTree& half : selection_.halves) {
      selection_.delays_s.push_back(DelayOfHalf(graph_, half, options_.delays));
    }
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

  void AddTo(PackingProgram& program, const HalfTree& half) const {
    program.Add(half, DelayOfHalf(graph_, half, delays_));
  }

  // Of all that is selected: what the program makes small.
  double Delay() const {
    double delay = 0;
    for (size_t i = 0; i < selection_.halves.size(); ++i) {
      delay += selection_.volumes_bps[i] * DelayOfHalf(graph_, selection_.halves[i], delays_);
    }
    return delay;
  }

  // Half trees for the roots in use, at the prices of a solution, which mean the same as delays.
  std::vector<HalfTree> Grow(const PackingSolution& solution) const {
    std::set<size_t> roots;
    for (const HalfTree& half : selection_.halves) roots.insert(half.root);
    std::vector<double> costs;
    graph_.LinkCosts(solution.prices, costs);
    if (options_.limit != nullptr) {
      for (size_t i = 0; i < costs.size(); ++i) costs[i] += solution.limit_price * options_.limit->link_prices[i];
    }
    std::vector<HalfTree> grown;
    for (const size_t root : roots) {
      for (const Half half : {Half::kReduce, Half::kBroadcast}) {
        for (const double weight : kDelayWeights) {
          grown.push_back(GrowHalf(graph_, half, root, costs, delays_, weight));
        }
      }
    }
    return grown;
  }

  // Looks for half trees of less delay at the prices that the selection puts on capacity, and makes the selection anew
  // with them. Ends when that gains nothing.
  void Improve() {
    std::vector<HalfTree> pool = selection_.halves;
    std::set<HalfTree> known(pool.begin(), pool.end());
    PackingProgram program = PackingProgram::AtLeast(&graph_, options_.rate_bps, options_.limit);
    for (const HalfTree& half : pool) AddTo(program, half);
    double least_delay = std::numeric_limits<double>::infinity();
    for (int i = 0; !options_.IsSpent(work_); ++i) {
      const absl::StatusOr<PackingSolution> solution = program.Solve();
      if (!solution.ok()) return;
      work_ += solution->work;
      Keep(pool, solution->volumes_bps);
      const double delay = Delay();
      if (delay > (1 - kLeastGain) * least_delay) return;
      least_delay = delay;
      const auto growth_work = static_cast<int64_t>(kGrowthWork * selection_.halves.size() * graph_.links().size());
      if (i == kMostGrowths || work_ + growth_work > options_.work) return;
      for (HalfTree& half : Grow(*solution)) {
        if (!known.insert(half).second) continue;
        AddTo(program, half);
        pool.push_back(std::move(half));
      }
      work_ += growth_work;
    }
  }

  // Leaves out those with the least volumes, as many at a time as possible, until none can be missed.
  void Thin() {
    if (options_.IsSpent(work_)) return;
    const std::vector<HalfTree> halves = selection_.halves;
    PackingProgram program = PackingProgram::AtLeast(&graph_, options_.rate_bps, options_.limit);
    for (const HalfTree& half : halves) AddTo(program, half);
    absl::StatusOr<PackingSolution> solution = program.Solve();
    if (!solution.ok()) return;
    std::vector<double> volumes_bps = solution->volumes_bps;
    std::set<size_t> candidates;
    for (size_t i = 0; i < halves.size(); ++i) candidates.insert(i);
    size_t step = halves.size() / 2;
    while (step > 0 && !candidates.empty() && !options_.IsSpent(work_)) {
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
  std::vector<double> delays_;  // by link; the slowest is 1
  Selection selection_;
  int64_t work_ = 0;
};

// A half tree of a root, and how much of it is in no pair yet.
struct Unpaired {
  double delay_s = 0;
  size_t half = 0;
  double volume_bps = 0;

  friend auto operator<=>(const Unpaired&, const Unpaired&) = default;
};

// Both lists sum to the same volume.
void PairOnRoot(std::vector<Unpaired> reduced, std::vector<Unpaired> broadcast, double least_bps,
                std::vector<HalfPair>& pairs) {
  // The next of each is the last.
  std::sort(reduced.begin(), reduced.end());
  std::sort(broadcast.begin(), broadcast.end(), std::greater<>());
  while (!reduced.empty() && !broadcast.empty()) {
    Unpaired& from = reduced.back();
    Unpaired& to = broadcast.back();
    const double volume_bps = std::min(from.volume_bps, to.volume_bps);
    if (volume_bps > least_bps) pairs.push_back({from.half, to.half, volume_bps});
    from.volume_bps -= volume_bps;
    to.volume_bps -= volume_bps;
    if (from.volume_bps <= least_bps) reduced.pop_back();
    if (to.volume_bps <= least_bps) broadcast.pop_back();
  }
}

// A pair with less of the rate is a rounding error of the solver.
constexpr double kLeastDensePart = 1e-7;

struct Part {
  size_t half = 0;
  double volume_bps = 0;
};

struct Root {
  std::vector<Part> reduced;
  std::vector<Part> broadcast;
};

bool IsLarger(const Part& a, const Part& b) { return a.volume_bps > b.volume_bps; }

void PairDenseOnRoot(Root root, double least_bps, std::vector<HalfPair>& pairs) {
  // What is left of a half tree goes back to where its volume belongs.
  const auto take = [least_bps](std::vector<Part>& parts, double volume_bps) {
    Part part = parts.front();
    parts.erase(parts.begin());
    part.volume_bps -= volume_bps;
    if (part.volume_bps <= least_bps) return;
    parts.insert(std::upper_bound(parts.begin(), parts.end(), part, IsLarger), part);
  };
  for (std::vector<Part>* parts : {&root.reduced, &root.broadcast}) {
    std::stable_sort(parts->begin(), parts->end(), IsLarger);
  }
  while (!root.reduced.empty() && !root.broadcast.empty()) {
    const HalfPair pair{root.reduced.front().half, root.broadcast.front().half,
                        std::min(root.reduced.front().volume_bps, root.broadcast.front().volume_bps)};
    if (pair.volume_bps > least_bps) pairs.push_back(pair);
    take(root.reduced, pair.volume_bps);
    take(root.broadcast, pair.volume_bps);
  }
}

// The link's end on the root's side, and the other one.
size_t Inner(const Arc& link, Half half) { return half == Half::kReduce ? link.to : link.from; }
size_t Outer(const Arc& link, Half half) { return half == Half::kReduce ? link.from : link.to; }

}  // namespace

double DelayOfHalf(const CapacityGraph& graph, const HalfTree& half, absl::Span<const double> delays) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> link_of(graph.nodes(), kNone);  // towards the root
  for (const size_t link : half.links) link_of[Outer(graph.links()[link], half.half)] = link;
  std::vector<double> delay(graph.nodes(), -1);
  delay[half.root] = 0;
  std::vector<size_t> path;
  for (size_t node = 0; node < graph.nodes(); ++node) {
    for (size_t at = node; delay[at] < 0; at = Inner(graph.links()[link_of[at]], half.half)) path.push_back(at);
    for (; !path.empty(); path.pop_back()) {
      const size_t link = link_of[path.back()];
      delay[path.back()] = delay[Inner(graph.links()[link], half.half)] + delays[link];
    }
  }
  return *std::max_element(delay.begin(), delay.end());
}

HalfTree GrowHalf(const CapacityGraph& graph, Half half, size_t root, absl::Span<const double> costs,
                  absl::Span<const double> delays, double weight) {
  const std::vector<Arc>& links = graph.links();
  std::vector<std::vector<size_t>> links_of(graph.nodes());  // that lead outwards
  for (size_t i = 0; i < links.size(); ++i) links_of[Inner(links[i], half)].push_back(i);
  using Candidate = std::pair<double, size_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<Candidate>> candidates;
  std::vector<double> delay(graph.nodes(), -1);
  const auto reach = [&](size_t node, double at) {
    delay[node] = at;
    for (const size_t link : links_of[node]) {
      if (delay[Outer(links[link], half)] < 0) candidates.push({costs[link] + weight * (at + delays[link]), link});
    }
  };
  HalfTree tree{half, root, {}};
  reach(root, 0);
  while (tree.links.size() + 1 < graph.nodes()) {
    BANYAN_CHECK(!candidates.empty());
    const size_t link = candidates.top().second;
    candidates.pop();
    const size_t node = Outer(links[link], half);
    if (delay[node] >= 0) continue;
    tree.links.push_back(link);
    reach(node, delay[Inner(links[link], half)] + delays[link]);
  }
  std::sort(tree.links.begin(), tree.links.end());
  return tree;
}

std::vector<HalfPair> LargestPairs(const TreePacking& packing, double rate_bps) {
  std::map<size_t, Root> roots;
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    Root& root = roots[packing.halves[i].root];
    const Part part{i, packing.volumes_bps[i]};
    (packing.halves[i].half == Half::kReduce ? root.reduced : root.broadcast).push_back(part);
  }
  std::vector<HalfPair> pairs;
  for (auto& [position, root] : roots) PairDenseOnRoot(std::move(root), kLeastDensePart * packing.rate_bps, pairs);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const HalfPair& a, const HalfPair& b) { return a.volume_bps > b.volume_bps; });
  double sum_bps = 0;
  size_t count = 0;
  while (count < pairs.size() && sum_bps < rate_bps) sum_bps += pairs[count++].volume_bps;
  pairs.resize(count);
  return pairs;
}

Selection SelectHalves(const CapacityGraph& graph, const TreePacking& packing, const SelectionOptions& options) {
  return Selector(graph, options).Run(packing);
}

std::vector<HalfPair> PairHalves(const Selection& selection) {
  struct Halves {
    std::vector<Unpaired> reduced;
    std::vector<Unpaired> broadcast;
  };
  std::map<size_t, Halves> by_root;
  double sum_bps = 0;
  for (size_t i = 0; i < selection.halves.size(); ++i) {
    Halves& halves = by_root[selection.halves[i].root];
    const bool is_reduce = selection.halves[i].half == Half::kReduce;
    (is_reduce ? halves.reduced : halves.broadcast).push_back({selection.delays_s[i], i, selection.volumes_bps[i]});
    if (is_reduce) sum_bps += selection.volumes_bps[i];
  }
  std::vector<HalfPair> pairs;
  for (const auto& [root, halves] : by_root) {
    PairOnRoot(halves.reduced, halves.broadcast, kLeastPart * sum_bps, pairs);
  }
  return pairs;
}

}  // namespace banyan
