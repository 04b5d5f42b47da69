#include "topology/packing/tree_rerouting.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/check.h"
#include "topology/packing/arborescence.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

namespace banyan {
namespace {

// The higher the power, the more the most loaded link alone decides; low ones find the way there.
constexpr double kPowers[] = {4, 16, 64};

// A half tree moves for no less than this part of the sum.
constexpr double kLeastGain = 1e-6;

// How many links searches may look at: a second for large networks, never reached by small ones.
constexpr int64_t kMaxWork = 4'000'000;

// The part by which a half tree prefers one link to another that costs the same, and the ratio whose multiples spread.
constexpr double kPreference = 0.01;
constexpr double kGolden = 0.6180339887498949;

class Rerouting {
 public:
  Rerouting(const NetworkView& view, const std::vector<Tree>& trees)
      : graph_(view),
        to_root_(graph_.nodes(), graph_.links(), Half::kReduce),
        from_root_(graph_.nodes(), graph_.links(), Half::kBroadcast),
        loads_(graph_.capacities_bps().size(), 0) {
    for (const Tree& tree : trees) {
      for (const Half half : {Half::kReduce, Half::kBroadcast}) {
        std::optional<HalfTree> routed = HalfOf(tree, half, view);
        BANYAN_CHECK(routed.has_value());
        graph_.AddLoad(routed->links, tree.share, loads_);
        halves_.push_back(*std::move(routed));
        shares_.push_back(tree.share);
      }
    }
  }

  // Tree by tree, the reduce half first.
  std::vector<HalfTree> Run() {
    best_ = halves_;
    best_load_ = HighestLoad();
    Descend();
    // What comes of the given routes may be stuck where no half tree alone can make way.
    RouteAnew();
    Descend();
    return best_;
  }

 private:
  // Moves half trees until none gains.
  void Descend() {
    for (const double power : kPowers) {
      power_ = power;
      KeepBest();
      bool moved = true;
      while (moved && work_ < kMaxWork) {
        moved = false;
        for (size_t i = 0; i < halves_.size() && work_ < kMaxWork; ++i) moved = Move(i) || moved;
        KeepBest();
      }
    }
  }

  // Takes every half tree off the links, then puts one after the other back.
  void RouteAnew() {
    power_ = kPowers[0];
    unit_ = best_load_;
    std::fill(loads_.begin(), loads_.end(), 0);
    for (size_t i = 0; i < halves_.size(); ++i) {
      halves_[i].links = CheapestLinks(i);
      graph_.AddLoad(halves_[i].links, shares_[i], loads_);
    }
  }

  void KeepBest() {
    if (HighestLoad() >= best_load_) return;
    best_load_ = HighestLoad();
    best_ = halves_;
  }

  // Seconds per bit of the model that the most loaded link or cap takes.
  double HighestLoad() const {
    double highest = 0;
    for (size_t i = 0; i < loads_.size(); ++i) highest = std::max(highest, loads_[i] / graph_.capacities_bps()[i]);
    return highest;
  }

  double Power(size_t number, double load) const {
    return std::pow(load / graph_.capacities_bps()[number] / unit_, power_);
  }

  double Sum() const {
    double sum = 0;
    for (size_t i = 0; i < loads_.size(); ++i) sum += Power(i, loads_[i]);
    return sum;
  }

  // For a half tree that is not on the links.
  std::vector<size_t> CheapestLinks(size_t position) {
    const HalfTree& half = halves_[position];
    std::vector<double> prices;
    for (size_t i = 0; i < loads_.size(); ++i) {
      const double load = std::max(0.0, loads_[i]);
      prices.push_back(Power(i, load + shares_[position]) - Power(i, load));
    }
    std::vector<double> costs;
    graph_.LinkCosts(prices, costs);
    // Among equally good routes every half tree prefers others, so that they do not all meet at the lowest numbers.
    for (size_t i = 0; i < costs.size(); ++i) {
      costs[i] *=
          1 + kPreference * std::fmod(static_cast<double>(i + 1) * static_cast<double>(position + 1) * kGolden, 1);
    }
    ArborescenceFinder& finder = half.half == Half::kReduce ? to_root_ : from_root_;
    finder.Search(costs);
    work_ += static_cast<int64_t>(costs.size());
    return finder.Links(half.root);
  }

  // Whether another route was better.
  bool Move(size_t position) {
    HalfTree& half = halves_[position];
    unit_ = HighestLoad();
    const double before = Sum();
    const std::vector<double> loads_before = loads_;
    graph_.AddLoad(half.links, -shares_[position], loads_);
    std::vector<size_t> links = CheapestLinks(position);
    graph_.AddLoad(links, shares_[position], loads_);
    if (Sum() < (1 - kLeastGain) * before) {
      half.links = std::move(links);
      return true;
    }
    loads_ = loads_before;
    return false;
  }

  CapacityGraph graph_;
  ArborescenceFinder to_root_;
  ArborescenceFinder from_root_;
  std::vector<HalfTree> halves_;
  std::vector<HalfTree> best_;  // those of the least highest load so far
  double best_load_ = 0;
  std::vector<double> shares_;  // by half
  std::vector<double> loads_;   // bits per bit of the model, by number in the graph
  double power_ = 1;
  double unit_ = 1;  // a load that counts 1
  int64_t work_ = 0;
};

}  // namespace

std::vector<Tree> RerouteTrees(const NetworkView& view, std::vector<Tree> trees) {
  if (view.nodes().size() < 2) return trees;
  const std::vector<HalfTree> halves = Rerouting(view, trees).Run();
  for (size_t i = 0; i < trees.size(); ++i) {
    trees[i].reduce_parent = ParentsOf(halves[2 * i], view);
    trees[i].broadcast_parent = ParentsOf(halves[2 * i + 1], view);
  }
  return trees;
}

}  // namespace banyan
