#include "topology/packing/tree_packing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "core/check.h"
#include "topology/packing/packing_program.h"
#include "topology/packing/price_bound.h"
#include "topology/packing/price_search.h"
#include "topology/packing/rough_packing.h"

namespace banyan {
namespace {

// The part of the best prices so far in those at which new half trees are looked for.
constexpr double kSmoothing = 0.5;

// How much cheaper than 1 both halves for a root must be to be worth adding.
constexpr double kLeastGain = 1e-7;

// The rough packing that everything begins with: few half trees of it suffice, and prices that are closer to the best
// are found faster by linear programs.
constexpr double kRoughStep = 0.15;
constexpr double kRoughAccuracy = 0.03;
constexpr double kRoughPart = 0.4;
constexpr size_t kRoughHalves = 300;

// At most so many roots get new half trees at a time: more make the program larger than they help.
constexpr size_t kRootsAtATime = 32;

constexpr double kWorkPerCubedNode = 400;
constexpr double kLeastWork = 100e3;
constexpr double kMostWork = 4e6;

class Packer {
 public:
  Packer(const CapacityGraph& graph, const PackingOptions& options)
      : graph_(graph), options_(options), search_(graph), program_(&graph, TypicalBps(graph)) {
    for (const HalfTree& half : options.seeds) Add(half);
  }

  TreePacking Run() {
    if (!options_.seeds.empty() && Solve()) packing_.seeds_rate_bps = packing_.rate_bps;
    for (const HalfTree& half : options_.candidates) Add(half);
    BeginRoughly();
    for (const std::vector<double>& prices : SimplePrices(graph_)) Search(prices);
    bool goes_on = Solve();
    while (goes_on && packing_.rate_bps < (1 - options_.accuracy) * search_.bound_bps() &&
           !options_.IsSpent(packing_.work)) {
      goes_on = AddHalves() && Solve();
    }
    packing_.bound_bps = search_.bound_bps();
    packing_.prices = search_.prices();
    return std::move(packing_);
  }

 private:
  static double TypicalBps(const CapacityGraph& graph) {
    const double sum =
        std::accumulate(graph.capacities_bps().begin(), graph.capacities_bps().begin() + graph.links().size(), 0.0);
    return sum / (2 * static_cast<double>(graph.nodes() - 1));
  }

  // False when it is known already.
  bool Add(const HalfTree& half) {
    if (!known_.insert(half).second) return false;
    program_.Add(half);
    packing_.halves.push_back(half);
    packing_.volumes_bps.push_back(0);
    return true;
  }

  bool Solve() {
    absl::StatusOr<PackingSolution> solution = program_.Solve();
    if (!solution.ok()) return false;
    packing_.work += solution->work;
    packing_.rate_bps = solution->rate_bps;
    packing_.volumes_bps = std::move(solution->volumes_bps);
    prices_ = std::move(solution->prices);
    return true;
  }

  void Search(const std::vector<double>& prices) {
    search_.Search(prices);
    packing_.work += search_.work_per_search();
  }

  // Gives both the prices and the half trees to begin with.
  void BeginRoughly() {
    const RoughPacking rough =
        PackRoughly(graph_,
                    {.roots = options_.roots,
                     .step = kRoughStep,
                     .accuracy = kRoughAccuracy,
                     .work = static_cast<int64_t>(kRoughPart * static_cast<double>(options_.work)),
                     .halves = kRoughHalves},
                    search_);
    packing_.work += rough.work;
    for (const HalfTree& half : rough.halves) Add(half);
  }

  // What both halves for a root cost at the solver's prices, of which the program pays back 1.
  double CostNow(const HalfTree& reduce, const HalfTree& broadcast) const {
    double cost = 0;
    for (const HalfTree* half : {&reduce, &broadcast}) {
      for (const size_t link : half->links) cost += costs_now_[link];
    }
    return cost;
  }

  // Adds the half trees that the last search found for the roots with the most to gain; false when there are none.
  bool AddFound() {
    struct Found {
      double cost;
      HalfTree reduce;
      HalfTree broadcast;
    };
    std::vector<Found> found;
    for (const size_t root : options_.roots) {
      HalfTree reduce = search_.Reduce(root);
      HalfTree broadcast = search_.Broadcast(root);
      const double cost = CostNow(reduce, broadcast);
      if (cost < 1 - kLeastGain) found.push_back({cost, std::move(reduce), std::move(broadcast)});
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.cost < b.cost; });
    if (found.size() > kRootsAtATime) found.resize(kRootsAtATime);
    bool added = false;
    for (const Found& pair : found) {
      added = Add(pair.reduce) || added;
      added = Add(pair.broadcast) || added;
    }
    return added;
  }

  // The solver's prices alone jump; those between them and the best so far lead to useful half trees sooner. Where they
  // lead to none, the solver's prices do.
  bool AddHalves() {
    graph_.LinkCosts(prices_, costs_now_);
    std::vector<double> smooth(prices_.size());
    for (size_t i = 0; i < prices_.size(); ++i) {
      smooth[i] = kSmoothing * search_.prices()[i] + (1 - kSmoothing) * prices_[i];
    }
    Search(smooth);
    if (AddFound()) return true;
    Search(prices_);
    return AddFound();
  }

  const CapacityGraph& graph_;
  const PackingOptions& options_;
  PriceSearch search_;
  PackingProgram program_;
  TreePacking packing_;
  std::set<HalfTree> known_;
  std::vector<double> prices_;     // of the solver
  std::vector<double> costs_now_;  // of links at these prices
};

}  // namespace

int64_t PackingWork(size_t nodes) {
  const double wanted = kWorkPerCubedNode * std::pow(static_cast<double>(nodes), 3);
  return static_cast<int64_t>(std::clamp(wanted, kLeastWork, kMostWork));
}

TreePacking PackTrees(const CapacityGraph& graph, const PackingOptions& options) {
  BANYAN_CHECK(graph.nodes() >= 2 && !options.roots.empty());
  return Packer(graph, options).Run();
}

CapacityPrices CertificateOf(const CapacityGraph& graph, const TreePacking& packing) {
  const auto up = packing.prices.begin() + graph.Up(0);
  const auto down = packing.prices.begin() + graph.Down(0);
  const auto shared = packing.prices.begin() + graph.Shared();
  return {{packing.prices.begin(), up}, {up, down}, {down, shared}, {shared, packing.prices.end()}};
}

}  // namespace banyan
