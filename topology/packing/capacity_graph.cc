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
}

void CapacityGraph::AddLoad(absl::Span<const size_t> links, double volume, std::vector<double>& loads) const {
  for (const size_t link : links) {
    loads[link] += volume;
    loads[Up(links_[link].from)] += volume;
    loads[Down(links_[link].to)] += volume;
  }
}

void CapacityGraph::LinkCosts(absl::Span<const double> prices, std::vector<double>& costs) const {
  BANYAN_CHECK(prices.size() == capacities_bps_.size());
  costs.resize(links_.size());
  for (size_t i = 0; i < links_.size(); ++i) {
    costs[i] = prices[i] + prices[Up(links_[i].from)] + prices[Down(links_[i].to)];
  }
}

}  // namespace banyan
