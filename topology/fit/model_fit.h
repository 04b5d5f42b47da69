// The plan that suits a model: the trees of the highest rate are deep and many, and a model is often sooner done over
// fewer, shallower ones. Pure functions.
#ifndef BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
#define BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/planner.h"
#include "topology/policy.h"

namespace banyan {

// Returns the plan whose round of the model (config.tensors) is predicted to be the shortest. It chooses
// between four kinds, each with chunks that suit it and with the shares that suit these chunks:
//  - PlanPacked's plan;
//  - packed trees that give up a part of its rate to be shallower;
//  - FAPT's plans with several numbers of roots;
//  - a minimum spanning tree, and a star.
// With config.budget_per_round it is the shortest of those whose price (topology/fit/price_fit.h) is not above that;
// where even the cheapest trees cost more, it is of these.
// Rates and round_time are those of the trees before: ValueOn follows. Errors are PlanPacked's. REQUIRES:
// FitsTreesToModel(config).
absl::StatusOr<Policy> PlanForModel(const NetworkView& view, const PlannerConfig& config);

// Returns the best plan that takes little time: the trees in use (config.current_trees) without the nodes that are
// gone, and with those that are new as leaves, or one of FAPT's. The best is that of the shortest round, or of the
// highest rate while the model is not known. Rates and errors as above. REQUIRES: config.planner is `packed`.
absl::StatusOr<Policy> PlanInHaste(const NetworkView& view, const PlannerConfig& config);

// So many a round's messages and acknowledgements stay within what a core handles beside its other work.
inline constexpr int64_t kMostFittedChunks = 1 << 15;

// Of smaller chunks the header, which predictions leave out, is more than a tenth.
inline constexpr int64_t kLeastFittedElements = 160;

// Fits the chunk size to a model: small chunks fill the pipeline sooner and divide better over the trees, large ones
// cost less to handle. Lowers policy.chunk_max_elements, by halves and not below `least_elements` and
// kLeastFittedElements. Takes the largest size with which a round of a model with these tensors is predicted to take
// within three hundredths of the shortest time: each chunk costs processors time that they would have for training.
// Returns the time that is predicted for that size. Links carry `sent_part` of the tensors' bits. Leaves rates and
// round_time as they are: ValueOn follows. REQUIRES: as PredictRoundTime.
absl::Duration FitChunks(const NetworkView& view, const std::vector<PlannedTensor>& tensors, int64_t least_elements,
                         Policy& policy, double sent_part = 1);

// Moves a few chunks at a time from trees that are done last to trees that are done first, while PredictRoundTime
// becomes shorter; no tree loses all. Links carry `sent_part` of the tensors' bits. Predicts at most some fifty rounds,
// and fewer where that would take long. Leaves rates and round_time as they are: ValueOn follows. REQUIRES: as
// PredictRoundTime, and there is a tensor.
void SearchShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                  double sent_part = 1);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_MODEL_FIT_H_
