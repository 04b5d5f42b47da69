// The chunk size that suits a model: small chunks fill the pipeline sooner and divide better over the trees, large ones
// cost less to handle. Pure function.
#ifndef BANYAN_TOPOLOGY_FIT_CHUNK_FIT_H_
#define BANYAN_TOPOLOGY_FIT_CHUNK_FIT_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "topology/network_view.h"
#include "topology/planned_tensor.h"
#include "topology/policy.h"

namespace banyan {

// So many a round's messages and acknowledgements stay within what a core handles beside its other work.
inline constexpr int64_t kMostFittedChunks = 1 << 15;

// Of smaller chunks the header, which predictions leave out, is more than a tenth.
inline constexpr int64_t kLeastFittedElements = 160;

// Lowers policy.chunk_max_elements, by halves and not below `least_elements` and kLeastFittedElements. Takes the
// largest size with which a round of a model with these tensors is predicted to take within three hundredths of the
// shortest time: each chunk costs processors time that they would have for training. Returns the time that is predicted
// for that size. Links carry `sent_part` of the tensors' bits. Leaves rates and round_time as they are: ValueOn
// follows. REQUIRES: as PredictRoundTime.
absl::Duration FitChunks(const NetworkView& view, const std::vector<PlannedTensor>& tensors, int64_t least_elements,
                         Policy& policy, double sent_part = 1);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_FIT_CHUNK_FIT_H_
