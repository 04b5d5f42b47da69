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

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_POLICY_VALUE_H_
