#include "topology/advice/upgrade_advice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/tree_packing.h"

namespace banyan {
namespace {

// Small differences of rates must show.
constexpr double kAccuracy = 1e-7;
constexpr int64_t kTimesTheWork = 50;
// Below this a price is a rounding error.
constexpr double kLeastPrice = 1e-6;
// An upgrade that is worth less is none.
constexpr double kLeastWorth = 1e-3;
// A rate that misses no more than this of another one is as high.
constexpr double kNoLoss = 1e-5;
// Of more capacities, those are spare that the packing at hand uses by half at most: to look for others takes a packing
// for each.
constexpr size_t kMostTried = 200;

// Packs as exactly as it can. `known` are half trees to begin with.
TreePacking PackExactly(const NetworkView& view, std::vector<HalfTree> known) {
  const CapacityGraph graph(view);
  PackingOptions options;
  options.roots.resize(view.nodes().size());
  std::iota(options.roots.begin(), options.roots.end(), size_t{0});
  options.seeds = std::move(known);
  options.accuracy = kAccuracy;
  options.work = kTimesTheWork * PackingWork(view.nodes().size());
  return PackTrees(graph, options);
}

std::vector<HalfTree> UsedHalves(const TreePacking& packing) {
  std::vector<HalfTree> used;
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    if (packing.volumes_bps[i] > 0) used.push_back(packing.halves[i]);
  }
  return used;
}

// Returns how much of each capacity the packing uses, by number in the graph.
std::vector<double> LoadsOf(const NetworkView& view, const TreePacking& packing) {
  const CapacityGraph graph(view);
  std::vector<double> loads(graph.capacities_bps().size(), 0);
  for (size_t i = 0; i < packing.halves.size(); ++i) {
    graph.AddLoad(packing.halves[i].links, packing.volumes_bps[i], loads);
  }
  return loads;
}

// Returns what a larger capacity is worth; worth 0 where that is nothing.
Upgrade TryUpgrade(const NetworkView& view, const NumberedCapacity& numbered, double rate_bps,
                   const std::vector<HalfTree>& known) {
  const auto rate_with = [&](double bps) {
    return PackExactly(WithCapacity(view, numbered.capacity, bps), known).rate_bps;
  };
  Upgrade upgrade{numbered.capacity, numbered.bps, 0, rate_bps};
  const double more_bps = kSmallUpgrade * numbered.bps;
  upgrade.worth = (rate_with(numbered.bps + more_bps) - rate_bps) / more_bps;
  if (upgrade.worth >= kLeastWorth) upgrade.doubled_rate_bps = std::max(rate_bps, rate_with(2 * numbered.bps));
  return upgrade;
}

// Halves one capacity after the other as long as the rate stays, the largest first, and returns those that it could.
std::vector<NetworkCapacity> FindSpare(NetworkView view, const TreePacking& packing) {
  const std::vector<double> loads = LoadsOf(view, packing);
  std::vector<NumberedCapacity> capacities = CapacitiesOf(view);
  std::stable_sort(capacities.begin(), capacities.end(), [](const auto& a, const auto& b) { return a.bps > b.bps; });
  std::vector<HalfTree> known = UsedHalves(packing);
  std::vector<NetworkCapacity> spare;
  const bool tries = capacities.size() <= kMostTried;
  for (const NumberedCapacity& numbered : capacities) {
    if (packing.prices[numbered.number] > kLeastPrice) continue;
    NetworkView less = WithCapacity(view, numbered.capacity, numbered.bps / 2);
    if (tries) {
      const TreePacking without = PackExactly(less, known);
      if (without.rate_bps < (1 - kNoLoss) * packing.rate_bps) continue;
      known = UsedHalves(without);
    } else if (loads[numbered.number] > numbered.bps / 2) {
      continue;
    }
    view = std::move(less);
    spare.push_back(numbered.capacity);
  }
  return spare;
}

}  // namespace

using Kind = NetworkCapacity::Kind;

std::vector<NumberedCapacity> CapacitiesOf(const NetworkView& view) {
  std::vector<NumberedCapacity> capacities;
  size_t number = 0;
  for (size_t i = 0; i < view.links().size(); ++i) {
    capacities.push_back({number++, {Kind::kLink, i}, view.links()[i].throughput_bps});
  }
  for (const auto& [kind, cap_bps] :
       {std::pair(Kind::kUp, &NetworkNode::up_cap_bps), {Kind::kDown, &NetworkNode::down_cap_bps}}) {
    for (size_t i = 0; i < view.nodes().size(); ++i, ++number) {
      const std::optional<double>& bps = view.nodes()[i].*cap_bps;
      if (bps.has_value()) capacities.push_back({number, {kind, i}, *bps});
    }
  }
  for (size_t i = 0; i < view.shared().size(); ++i) {
    capacities.push_back({number++, {Kind::kShared, i}, view.shared()[i].capacity_bps});
  }
  return capacities;
}

NetworkView WithCapacity(const NetworkView& view, const NetworkCapacity& capacity, double bps) {
  std::vector<NetworkNode> nodes(view.nodes().begin(), view.nodes().end());
  std::vector<NetworkLink> links(view.links().begin(), view.links().end());
  std::vector<SharedCapacity> shared(view.shared().begin(), view.shared().end());
  switch (capacity.kind) {
    case Kind::kLink:
      links[capacity.position].throughput_bps = bps;
      break;
    case Kind::kUp:
      nodes[capacity.position].up_cap_bps = bps;
      break;
    case Kind::kDown:
      nodes[capacity.position].down_cap_bps = bps;
      break;
    case Kind::kShared:
      shared[capacity.position].capacity_bps = bps;
      break;
  }
  return *NetworkView::Create(std::move(nodes), std::move(links), std::move(shared));
}

std::string NameOf(const NetworkCapacity& capacity, const NetworkView& view) {
  const auto link_name = [&view](NodeId from, NodeId to) {
    return absl::StrCat(view.NameOf(from), " > ", view.NameOf(to));
  };
  switch (capacity.kind) {
    case Kind::kLink:
      return link_name(view.links()[capacity.position].from, view.links()[capacity.position].to);
    case Kind::kUp:
      return absl::StrCat(view.nodes()[capacity.position].name, " sends");
    case Kind::kDown:
      return absl::StrCat(view.nodes()[capacity.position].name, " receives");
    case Kind::kShared:
      break;
  }
  return absl::StrCat(
      absl::StrJoin(view.shared()[capacity.position].links, ", ",
                    [&](std::string* out, const auto& ends) { out->append(link_name(ends.first, ends.second)); }),
      " together");
}

absl::StatusOr<UpgradeAdvice> AdviseUpgrades(const NetworkView& view) {
  const size_t nodes = view.nodes().size();
  if (nodes < 2 || nodes > kMostAdvisedNodes) {
    return absl::FailedPreconditionError(absl::StrCat("advice on upgrades is for networks of 2 to ", kMostAdvisedNodes,
                                                      " nodes, and these are ", nodes));
  }
  if (absl::Status status = view.CheckConnected(); !status.ok()) return status;
  const TreePacking packing = PackExactly(view, {});
  const std::vector<HalfTree> known = UsedHalves(packing);
  UpgradeAdvice advice{packing.rate_bps, packing.bound_bps, {}, FindSpare(view, packing)};
  for (const NumberedCapacity& numbered : CapacitiesOf(view)) {
    if (packing.prices[numbered.number] <= kLeastPrice) continue;
    const Upgrade upgrade = TryUpgrade(view, numbered, packing.rate_bps, known);
    if (upgrade.worth >= kLeastWorth) advice.upgrades.push_back(upgrade);
  }
  std::stable_sort(advice.upgrades.begin(), advice.upgrades.end(),
                   [](const Upgrade& a, const Upgrade& b) { return a.worth > b.worth; });
  return advice;
}

}  // namespace banyan
