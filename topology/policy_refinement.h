// Adds to a policy what it gets beyond its planner's trees: auxiliary paths, balanced shares, and the rate with
// auxiliary paths. Pure functions.
#ifndef BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_
#define BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_

#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Adds to `policy` what `config` asks for. With config.auxiliary, adds auxiliary paths within config.auxiliary_limits.
// With balanced shares, replaces the shares and drops the trees that get none; auxiliary paths are taken into account.
// Shares stay that are given (custom trees that say theirs) or are what is planned (packed).
// Packed trees for a model that is known plan no part for auxiliary paths: nodes use them only where a link is slower
// than planned. REQUIRES: `policy` comes from a planner for this view and configuration.
void RefinePolicy(const PlannerConfig& config, const NetworkView& view, Policy& policy);

// Gives the policy in use, of that configuration, the shares of trees and auxiliary paths that suit a network which has
// changed since. Where the planner chooses shares by the links' rates together (packed, balanced shares), all shares
// change. Elsewhere those of the auxiliary paths change, which have none beside packed trees for a model, as above. Its
// trees and paths stay, and its rates and round time are set (ValueOn).
void RefreshShares(const PlannerConfig& config, const NetworkView& view, Policy& policy);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_POLICY_REFINEMENT_H_
