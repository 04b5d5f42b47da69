// What a root's optimizer remembers of one tensor: velocities or moments and the number of steps, for those ranges of
// elements whose chunks end here. Indexed by element, so that it can move with them. Thread-compatible; owned by
// NodeCore.
#ifndef BANYAN_NODE_OPTIMIZER_STATE_H_
#define BANYAN_NODE_OPTIMIZER_STATE_H_

#include <cstdint>
#include <map>

#include "node/optimizer.h"
#include "proto/job_config.h"

namespace banyan {

class OptimizerState {
 public:
  explicit OptimizerState(AggregationOp op) : op_(op) {}

  // Counts one step of the range and returns its memory, zero before the first step. The slices share the state's
  // memory: the work on one step ends before the next step of the same range begins. REQUIRES: elements > 0; the range
  // is one that was asked for before or apart from all of those.
  OptimizerSlices BeginStep(int64_t first_element, int64_t elements);

  int64_t size_bytes() const;

 private:
  struct Range {
    int64_t elements;
    OptimizerSlices slices;
  };

  AggregationOp op_;
  std::map<int64_t, Range> ranges_;  // by first element
};

}  // namespace banyan

#endif  // BANYAN_NODE_OPTIMIZER_STATE_H_
