#include "topology/packing/capacity_graph.h"

#include <limits>

#include "core/check.h"

namespace banyan {

CapacityGraph::CapacityGraph(const NetworkView& view) : nodes_(view.nodes().size()) {
  for (const NetworkLink& link : view.links()) {
    links_.push_back({*view.IndexOf(link.from), *view.IndexOf(link.to)});
    capacities_bps_.push_back(link.throughput_bps);
  }
  constexpr double kNoCap = std::numeric_limits<double>::infinity();
  for (const NetworkNode& node : view.nodes()) capacities_bps_.push_back(node.up_cap_bps.value_or(kNoCap));
  for (const NetworkNode& node : view.nodes()) capacities_bps_.push_back(node.down_cap_bps.value_or(kNoCap));
  for (const SharedCapacity& shared : view.shared()) capacities_bps_.push_back(shared.capacity_bps);
  for (size_t link = 0; link < links_.size(); ++link) {
    first_shared_.push_back(shared_by_.size());
    for (const size_t shared : view.SharedBy(link)) shared_by_.push_back(Shared() + shared);
  }
  first_shared_.push_back(shared_by_.size());
}

void CapacityGraph::AddLoad(absl::Span<const size_t> links, double volume, std::vector<double>& loads) const {
  for (const size_t link : links) ForEachLoaded(link, [&](size_t number) { loads[number] += volume; });
}

void CapacityGraph::LinkCosts(absl::Span<const double> prices, std::vector<double>& costs) const {
  BANYAN_CHECK(prices.size() == capacities_bps_.size());
  costs.resize(links_.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    costs[i] = 0;
    ForEachLoaded(i, [&](size_t number) { costs[i] += prices[number]; });
  }
}

}  // namespace banyan
