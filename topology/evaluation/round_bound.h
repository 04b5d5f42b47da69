// How soon a round of a model can be over at best: beside the bound of the rate, which knows no delays, what tells a
// small model on long fast links from a bad plan.
#ifndef BANYAN_TOPOLOGY_EVALUATION_ROUND_BOUND_H_
#define BANYAN_TOPOLOGY_EVALUATION_ROUND_BOUND_H_

#include "absl/time/time.h"
#include "topology/network_view.h"

namespace banyan {

// Returns the least time of a round in which `elements` float32 values are summed and every node of `view` gets the
// sums, for schemes that sum each value in one place. It is the longest of three:
//   - what links take for it at `bound_bps`, a rate that no scheme can beat;
//   - the way of the last value from the farthest node to where it is summed, and on to the farthest node, over the
//     place for which that is shortest;
//   - the sums, of which every host makes an equal part at kSumBytesPerSecond.
// Infinite where some node cannot reach another.
absl::Duration LeastRoundTime(const NetworkView& view, double elements, double bound_bps);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_ROUND_BOUND_H_
