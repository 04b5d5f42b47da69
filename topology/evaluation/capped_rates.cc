#include "topology/evaluation/capped_rates.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "topology/evaluation/plan_rate.h"

namespace banyan {
namespace {

double PartOf(std::optional<double> cap_bps, double link_load, double host_load) {
  if (!cap_bps.has_value()) return std::numeric_limits<double>::infinity();
  return link_load > 0 ? *cap_bps * link_load / host_load : 0;
}

}  // namespace

CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view) {
  const std::vector<double> loads = LinkLoads(policy, view);
  const HostLoads hosts = HostLoadsOf(loads, view);
  const std::vector<double> shared = SharedLoadsOf(loads, view);
  CappedRates rates;
  for (size_t i = 0; i < loads.size(); ++i) {
    const NetworkLink& link = view.links()[i];
    double part_bps = std::min(PartOf(view.FindNode(link.from)->up_cap_bps, loads[i], hosts.sent.at(link.from)),
                               PartOf(view.FindNode(link.to)->down_cap_bps, loads[i], hosts.received.at(link.to)));
    for (const size_t s : view.SharedBy(i)) {
      part_bps = std::min(part_bps, PartOf(view.shared()[s].capacity_bps, loads[i], shared[s]));
    }
    if (part_bps < link.throughput_bps) rates[{link.from, link.to}] = part_bps;
  }
  return rates;
}

}  // namespace banyan
