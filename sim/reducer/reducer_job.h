// A training whose rounds are replayed with different reducers: nodes in a full mesh, the workers of each, what links
// and processors can do, and the buckets of a round. Plain value.
#ifndef BANYAN_SIM_REDUCER_REDUCER_JOB_H_
#define BANYAN_SIM_REDUCER_REDUCER_JOB_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "proto/precision/vote_rules.h"

namespace banyan {

struct ReducerJob {
  int nodes = 2;
  int workers = 4;  // of each node
  // What a node sends at most, and what it takes at most. Each link has as much.
  double node_bps = 10e9;
  absl::Duration delay = absl::Microseconds(100);  // of each link, one way
  int threads = 1;                                 // of each node, that compute at once
  // What a thread of a node reads and writes when it casts and counts votes; it sums floats at kSumBytesPerSecond
  // (topology/evaluation/round_time.h).
  double vote_bytes_per_second = 10e9;
  LowBitFamily family = LowBitFamily::kBinary;
  std::vector<int64_t> buckets;  // float32 elements of each, in order of the backward pass
};

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_REDUCER_JOB_H_
