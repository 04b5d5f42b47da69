// How good a policy is on a network that has changed since it was made, and whether another one is worth the change.
// Pure functions; as cheap as planning itself (milliseconds for 100 nodes).
#ifndef BANYAN_TOPOLOGY_POLICY_DIFFERENCE_H_
#define BANYAN_TOPOLOGY_POLICY_DIFFERENCE_H_

#include "topology/network_view.h"
#include "topology/policy.h"

namespace banyan {

// The all-reduce rate in bits of the model per second that the policy reaches on `view`, with its auxiliary paths if it
// has any, as Policy::detour_rate_bps says it for the view that it was made for. 0 when a link of a tree edge has
// vanished and no auxiliary path stands in for it, and when the policy's members are not the nodes of the view.
double RateOn(const Policy& policy, const NetworkView& view);

// Whether `next`, made for `view`, is faster there than `current` by more than `gain` (0.1 means by a tenth). False for
// two policies that cannot carry anything.
bool PromisesGain(const Policy& current, const Policy& next, const NetworkView& view, double gain);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_POLICY_DIFFERENCE_H_
