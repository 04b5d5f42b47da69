#include "topology/evaluation/simple_bound.h"

#include <algorithm>
#include <limits>
#include <map>

namespace banyan {

double SimpleBoundBps(const NetworkView& view) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double nodes = static_cast<double>(view.nodes().size());
  if (nodes < 2) return kInfinite;
  std::map<NodeId, double> outgoing_bps;
  std::map<NodeId, double> incoming_bps;
  double total_bps = 0;
  for (const NetworkLink& link : view.links()) {
    outgoing_bps[link.from] += link.throughput_bps;
    incoming_bps[link.to] += link.throughput_bps;
    total_bps += link.throughput_bps;
  }
  double bound_bps = total_bps / (2 * (nodes - 1));
  for (const NetworkNode& node : view.nodes()) {
    bound_bps = std::min({bound_bps, outgoing_bps[node.id], incoming_bps[node.id], node.up_cap_bps.value_or(kInfinite),
                          node.down_cap_bps.value_or(kInfinite)});
  }
  return bound_bps;
}

}  // namespace banyan
