// Values a policy on a network that may have changed since it was made. Pure functions; as cheap as planning itself
// (milliseconds for 100 nodes).
#ifndef BANYAN_TOPOLOGY_EVALUATION_POLICY_VALUE_H_
#define BANYAN_TOPOLOGY_EVALUATION_POLICY_VALUE_H_

#include <cstdint>
#include <vector>

#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// Sets the rates of `policy`, its round time, and the parts that its auxiliary paths take, to what they are on `view`.
// They are for a model with tensors of the sizes `tensors` (in KeyId order; empty when unknown), of whose bits links
// carry `sent_part` (topology/evaluation/round_time.h). A path over a link that has vanished carries nothing. Rates are
// 0 and the round time is infinite in two cases: nothing else carries a tree edge, or the members are not the nodes of
// the view.
void ValueOn(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy, double sent_part = 1);

// Likewise, but with those auxiliary paths only that `policy` has shares for: nodes use others only when something is
// wrong.
void ValueAsPublished(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                      double sent_part = 1);

// ---- auxiliary paths ----

// What the links allow when every tree edge splits its flow over its primary path and its auxiliary paths in the best
// way: linear programs over the flows on these paths.

// Returns the all-reduce rate with the policy's shares, in bits of the model per second; infinite when no edge exists.
// Equal to PlanRateBps without auxiliary paths, but for rounding. The policy may be of an earlier view: a path over a
// link that has vanished carries nothing. 0 when rounding errors defeat the solver. REQUIRES: the policy was valid for
// some view with the same nodes.
double AuxiliaryRateBps(const Policy& policy, const NetworkView& view);

// That rate, and the division of the traffic that reaches it with as little on auxiliary paths as possible.
struct PathDivision {
  double rate_bps = 0;
  // The part of its edge's traffic that takes each auxiliary path of the policy, in their order; all 0 where the rate
  // is 0 or infinite.
  std::vector<double> shares;
};

// REQUIRES: as above.
PathDivision DivideOverPaths(const Policy& policy, const NetworkView& view);

// Returns shares for the policy's trees, by TreeIndex, that make the rate as high as the links and caps allow together;
// they sum to 1 and may be 0. The shares of the policy do not matter. With auxiliary paths it is AuxiliaryRateBps that
// they maximise, without them PlanRateBps; of several such divisions it takes one that needs few auxiliary paths. The
// policy's own shares where nothing limits the rate, or when rounding errors defeat the solver. REQUIRES: as above.
std::vector<double> BalancedShares(const Policy& policy, const NetworkView& view);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_POLICY_VALUE_H_
