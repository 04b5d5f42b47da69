// The all-reduce rate that a policy can reach, where the most loaded link or host cap decides; what it lets each link
// reach, and what it leaves. Pure functions and values.
#ifndef BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_
#define BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// Returns for each link, in the order of view.links(), how many bits cross it per bit of the model in one round. That
// counts all trees, both halves, and every hop of routed edges. REQUIRES: `policy` is valid for `view`
// (ValidatePolicy).
std::vector<double> LinkLoads(const Policy& policy, const NetworkView& view);

// The bits that hosts send and receive over their links, per bit of the model.
struct HostLoads {
  std::map<NodeId, double> sent;
  std::map<NodeId, double> received;
};

// Sums what LinkLoads returned as `link_loads` over the hosts of `view`.
HostLoads HostLoadsOf(const std::vector<double>& link_loads, const NetworkView& view);

// Sums what LinkLoads returned as `link_loads` over what links share, in the order of view.shared().
std::vector<double> SharedLoadsOf(const std::vector<double>& link_loads, const NetworkView& view);

// Bits of the model per second; infinite when no edge exists.
double PlanRateBps(const Policy& policy, const NetworkView& view);

// Rates by the ends of a link, in bits per second.
using CappedRates = std::map<std::pair<NodeId, NodeId>, double>;

// Returns the rates that links can be expected to reach where hosts have caps and links share: what a link reaches
// while both its ends use all links as the trees do. Only those links are in it where a cap, or what links share, makes
// that less than the link's rate. Their rate is the part of it that the trees give them, 0 where no tree uses the link.
// REQUIRES: `policy` is valid for `view`.
CappedRates MakeCappedRates(const Policy& policy, const NetworkView& view);

// The rates that a policy's trees leave of the links, and of the caps of hosts that relay, when rounds are as fast as
// planned. Immutable; refers to the view, which must outlive it.
class SpareRates {
 public:
  // REQUIRES: as LinkLoads.
  SpareRates(const Policy& policy, const NetworkView& view);

  // The least part, 0 to 1, that is left of a link's rate, of what it shares or of a relay's cap along the path.
  // REQUIRES: its hops are links.
  double SpareOf(const std::vector<NodeId>& path) const;
  // Returns whether `path` has a link that no tree uses. REQUIRES: likewise.
  bool CrossesIdleLink(const std::vector<NodeId>& path) const;

 private:
  // Bits over the link per bit of the model.
  double LoadOf(NodeId from, NodeId to) const;
  size_t PositionOf(NodeId from, NodeId to) const;  // of the link in view_.links()
  double SpareOfRelay(NodeId relay) const;

  const NetworkView& view_;
  const std::vector<double> loads_;
  const HostLoads hosts_;
  const std::vector<double> shared_;
  const double rate_bps_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_
