// Shares with which a round of a model is predicted to be sooner done: a rate says how much the links can carry, and
// not which tree's chunks are the last to come. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_SHARE_SEARCH_H_
#define BANYAN_TOPOLOGY_FIT_SHARE_SEARCH_H_

#include <cstdint>
#include <vector>

#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// Moves a few chunks at a time from trees that are done last to trees that are done first, while PredictRoundTime
// becomes shorter; no tree loses all. Links carry `sent_part` of the tensors' bits. Predicts at most some fifty rounds,
// and fewer where that would take long. Leaves rates and round_time as they are: ValueOn follows. REQUIRES: as
// PredictRoundTime, and there is a tensor.
void SearchShares(const NetworkView& view, const std::vector<PlannedTensor>& tensors, Policy& policy,
                  double sent_part = 1);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_SHARE_SEARCH_H_
