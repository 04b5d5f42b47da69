// An all-reduce rate, and a time of a round, that no scheme can beat. Pure functions.
#ifndef BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_
#define BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_

#include "absl/time/time.h"
#include "topology/network_view.h"

namespace banyan {

// Returns an upper bound of the rate in bits of the model per second. It is at most what each node can send and receive
// (its links together, and its caps). It is also at most the sum of all links divided by the 2(n-1) edges that any
// scheme must load. Infinite for fewer than two nodes.
double SimpleBoundBps(const NetworkView& view);

// Returns the least time of a round in which `elements` float32 values are summed and every node of `view` gets the
// sums, for schemes that sum each value in one place. It is the longest of three:
//   - what links take for it at `bound_bps`, a rate that no scheme can beat;
//   - the way of the last value from the farthest node to where it is summed, and on to the farthest node, over the
//     place for which that is shortest;
//   - the sums, of which every host makes an equal part at kSumBytesPerSecond.
// Infinite where some node cannot reach another. The bound of the rate knows no delays: beside it this tells a small
// model on long fast links from a bad plan.
absl::Duration LeastRoundTime(const NetworkView& view, double elements, double bound_bps);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_SIMPLE_BOUND_H_
