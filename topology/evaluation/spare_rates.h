// The rates that a policy's trees leave of the links, and of the caps of hosts that relay, when rounds are as fast as
// planned. Immutable; refers to the view, which must outlive it.
#ifndef BANYAN_TOPOLOGY_EVALUATION_SPARE_RATES_H_
#define BANYAN_TOPOLOGY_EVALUATION_SPARE_RATES_H_

#include <vector>

#include "topology/evaluation/plan_rate.h"
#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

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

#endif  // BANYAN_TOPOLOGY_EVALUATION_SPARE_RATES_H_
