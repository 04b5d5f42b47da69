// The plan that suits a model: the trees of the highest rate are deep and many, and a model is often sooner done over
// fewer, shallower ones. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
#define BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_

#include "topology/network_view.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// The plan whose round of the model (config.tensor_elements) is predicted to be the shortest: of `packed`, of packed
// trees that give up a part of its rate to be shallower, and of FAPT's with several numbers of roots, each with chunks
// that suit it; with the shares that suit these chunks (topology/share_search.h). Rates and round_time are those of
// the trees before: ValueOn follows. REQUIRES: `packed` is PackedPlanner's for this view and configuration without a
// model; there is a tensor, and there are no fixed roots.
Policy FitToModel(const NetworkView& view, const PlannerConfig& config, Policy packed);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
