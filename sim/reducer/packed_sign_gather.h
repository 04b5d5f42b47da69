// The stock way to count signs without a reducer: an all-gather of packed signs, after which each worker counts all of
// them (NEURON-Fabric, Wang, Huang and Lung, 2026, section 6.3). Simulated on the links of a reducer's job. Pure
// functions.
//
// It is given what it can ask for. A node gets a worker's bits once, however many workers it has. Each worker has a
// processor of its own, as fast as a node's one thread. Messages cost their bytes, and processors no more than
// that.
#ifndef BANYAN_SIM_REDUCER_PACKED_SIGN_GATHER_H_
#define BANYAN_SIM_REDUCER_PACKED_SIGN_GATHER_H_

#include <cstdint>

#include "absl/time/time.h"
#include "sim/reducer/reducer_job.h"

namespace banyan {

struct GatherTimes {
  absl::Duration round;    // from the push of all buckets to the last worker's last result
  int64_t sent_bytes = 0;  // on all links
};

GatherTimes GatherPackedSigns(const ReducerJob& job);

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_PACKED_SIGN_GATHER_H_
