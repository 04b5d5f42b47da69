#include "topology/capped_rates.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "topology/plan_rate.h"

namespace banyan {

CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view) {
  const std::vector<double> loads = LinkLoads(policy, view);
  const HostLoads hosts = HostLoadsOf(loads, view);
  CappedRates rates;
  for (size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] == 0) continue;
    const NetworkLink& link = view.links()[i];
    const std::optional<double> up_bps = view.FindNode(link.from)->up_cap_bps;
    const std::optional<double> down_bps = view.FindNode(link.to)->down_cap_bps;
    double rate_bps = link.throughput_bps;
    if (up_bps.has_value()) rate_bps = std::min(rate_bps, *up_bps * loads[i] / hosts.sent.at(link.from));
    if (down_bps.has_value()) rate_bps = std::min(rate_bps, *down_bps * loads[i] / hosts.received.at(link.to));
    if (rate_bps < link.throughput_bps) rates[{link.from, link.to}] = rate_bps;
  }
  return rates;
}

}  // namespace banyan
