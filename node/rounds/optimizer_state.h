// An optimizer's memory of one tensor at one member: velocities or moments of every element, and how many steps were
// made. Indexed by element, so that chunks and trees may differ from round to round. Thread-compatible; owned by
// RoundEngine.
#ifndef BANYAN_NODE_ROUNDS_OPTIMIZER_STATE_H_
#define BANYAN_NODE_ROUNDS_OPTIMIZER_STATE_H_

#include <cstdint>

#include "core/buffer.h"
#include "node/rounds/optimizer.h"
#include "proto/job_config.h"

namespace banyan {

class OptimizerState {
 public:
  // Of a tensor of so many elements. Takes memory with the first step.
  OptimizerState(AggregationOp op, int64_t elements) : op_(op), elements_(elements) {}

  // Returns the memory of a range for the step under way; it is zero before the first step. The slices share this
  // object's memory. REQUIRES: the range lies within the tensor; each element is asked for once a step.
  OptimizerSlices Slices(int64_t first_element, int64_t elements);
  // Counts the step under way. REQUIRES: no computation works on its slices any more.
  void EndStep() { ++steps_; }

  // How many tensors of memory the op keeps.
  static int Moments(AggregationOp op);
  // Takes what another member has after so many steps; a moment that the op does not need is empty. REQUIRES: no
  // computation works on the slices of a step that counts.
  void Restore(uint64_t steps, Buffer first_moment, Buffer second_moment);

  uint64_t steps() const { return steps_; }
  // Empty before the first step.
  const Buffer& first_moment() const { return first_moment_; }
  const Buffer& second_moment() const { return second_moment_; }
  int64_t size_bytes() const { return first_moment_.size_bytes() + second_moment_.size_bytes(); }

 private:
  AggregationOp op_;
  int64_t elements_;
  uint64_t steps_ = 0;  // that were made
  Buffer first_moment_;
  Buffer second_moment_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_OPTIMIZER_STATE_H_
