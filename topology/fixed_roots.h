// Planning when the roots keep state: one tree for each root of the first plan, in the same order and with the same
// shares, so that every chunk stays with its root. Pure function.
#ifndef BANYAN_TOPOLOGY_FIXED_ROOTS_H_
#define BANYAN_TOPOLOGY_FIXED_ROOTS_H_

#include "absl/status/statusor.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Asks the planner for a tree per root; of planner `custom` the configured trees must have exactly these roots, and
// these shares if they say any. INVALID_ARGUMENT says what does not fit. REQUIRES: config.fixed_roots is not empty.
absl::StatusOr<Policy> PlanWithFixedRoots(const Planner& planner, const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIXED_ROOTS_H_
