// What a policy gets beyond its planner's trees: auxiliary paths, balanced shares, and the rate with detours. Pure
// function.
#ifndef BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_
#define BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_

#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// With config.auxiliary, adds auxiliary paths within config.auxiliary_limits. With balanced shares, replaces the shares
// unless they are given (custom trees that say theirs) or are what is planned (packed), and drops the
// trees that get none; auxiliary paths are taken into account. Packed trees for a model that is known plan no part for
// detours: nodes use them only where a link is slower than planned. REQUIRES: `policy` comes from a planner for this
// view and configuration.
void RefinePolicy(const PlannerConfig& config, const NetworkView& view, Policy& policy);

// Gives the policy in use, of that configuration, the shares of trees and detours that suit a network which has changed
// since: all of them where the planner chooses shares by the links' rates together (packed, balanced shares), else
// those of the detours, which have none beside packed trees for a model, as above. Its trees and paths stay, and its
// rates and round time are set (ValueOn).
void RefreshShares(const PlannerConfig& config, const NetworkView& view, Policy& policy);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_
