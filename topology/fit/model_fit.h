// The plan that suits a model: the trees of the highest rate are deep and many, and a model is often sooner done over
// fewer, shallower ones. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
#define BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_

#include "absl/status/statusor.h"
#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// The plan whose round of the model (config.tensor_elements) is predicted to be the shortest: of PackedPlanner's, of
// packed trees that give up a part of its rate to be shallower, and of FAPT's with several numbers of roots, each with
// chunks that suit it; with the shares that suit these chunks (topology/fit/share_search.h). Rates and round_time are
// those of the trees before: ValueOn follows. Errors are PackedPlanner's. REQUIRES: FitsTreesToModel(config).
absl::StatusOr<Policy> PlanForModel(const NetworkView& view, const PlannerConfig& config);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
