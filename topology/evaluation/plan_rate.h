// The all-reduce rate that a policy can reach: the most loaded link or host cap decides. Pure functions.
#ifndef BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_
#define BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_

#include <map>
#include <vector>

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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_PLAN_RATE_H_
