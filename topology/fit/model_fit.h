// The plan that suits a model: the trees of the highest rate are deep and many, and a model is often sooner done over
// fewer, shallower ones. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
#define BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_

#include "absl/status/statusor.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Returns the plan whose round of the model (config.tensors) is predicted to be the shortest. It chooses
// between three kinds, each with chunks that suit it and with the shares that suit these chunks
// (topology/fit/share_search.h):
//  - PackedPlanner's plan;
//  - packed trees that give up a part of its rate to be shallower;
//  - FAPT's plans with several numbers of roots.
// With config.budget_per_round it is the shortest of those whose price (topology/fit/price_fit.h) is not above that;
// where even the cheapest trees cost more, it is of these.
// Rates and round_time are those of the trees before: ValueOn follows. Errors are PackedPlanner's. REQUIRES:
// FitsTreesToModel(config).
absl::StatusOr<Policy> PlanForModel(const NetworkView& view, const PlannerConfig& config);

// Returns the best plan that takes little time: the trees in use (config.current_trees) without the nodes that are
// gone, and with those that are new as leaves, or one of FAPT's. The best is that of the shortest round, or of the
// highest rate while the model is not known. Rates and errors as above. REQUIRES: config.planner is `packed`.
absl::StatusOr<Policy> PlanInHaste(const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
