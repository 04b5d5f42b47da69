#include "topology/evaluation/spare_rates.h"

#include <algorithm>

namespace banyan {

SpareRates::SpareRates(const Policy& policy, const NetworkView& view)
    : view_(view),
      loads_(LinkLoads(policy, view)),
      hosts_(HostLoadsOf(loads_, view)),
      shared_(SharedLoadsOf(loads_, view)),
      rate_bps_(policy.rate_bps) {}

double SpareRates::SpareOf(const std::vector<NodeId>& path) const {
  double spare = 1;
  for (size_t i = 1; i < path.size(); ++i) {
    const double link_bps = view_.FindLink(path[i - 1], path[i])->throughput_bps;
    spare = std::min(spare, 1 - LoadOf(path[i - 1], path[i]) * rate_bps_ / link_bps);
    for (const size_t shared : view_.SharedBy(PositionOf(path[i - 1], path[i]))) {
      spare = std::min(spare, 1 - shared_[shared] * rate_bps_ / view_.shared()[shared].capacity_bps);
    }
  }
  for (size_t i = 1; i + 1 < path.size(); ++i) spare = std::min(spare, SpareOfRelay(path[i]));
  return std::max(0.0, spare);
}

bool SpareRates::CrossesIdleLink(const std::vector<NodeId>& path) const {
  for (size_t i = 1; i < path.size(); ++i) {
    if (LoadOf(path[i - 1], path[i]) == 0) return true;
  }
  return false;
}

double SpareRates::LoadOf(NodeId from, NodeId to) const { return loads_[PositionOf(from, to)]; }

size_t SpareRates::PositionOf(NodeId from, NodeId to) const {
  return static_cast<size_t>(view_.FindLink(from, to) - view_.links().data());
}

double SpareRates::SpareOfRelay(NodeId relay) const {
  const NetworkNode& node = *view_.FindNode(relay);
  double spare = 1;
  if (node.up_cap_bps.has_value()) spare = 1 - hosts_.sent.at(relay) * rate_bps_ / *node.up_cap_bps;
  if (node.down_cap_bps.has_value()) {
    spare = std::min(spare, 1 - hosts_.received.at(relay) * rate_bps_ / *node.down_cap_bps);
  }
  return spare;
}

}  // namespace banyan
