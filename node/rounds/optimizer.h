// The server-side optimizers: how every member of a job steps its copy of the parameters along the round's mean
// gradient. Pure functions on memory that the caller owns.
//
// Invariants:
// - Equal inputs give equal bits on every processor: each operation is one of IEEE 754's, with one rounding, and none
// is
//   the C library's. Replicas stay identical although nobody sends parameters.
#ifndef BANYAN_NODE_ROUNDS_OPTIMIZER_H_
#define BANYAN_NODE_ROUNDS_OPTIMIZER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "proto/job_config.h"

namespace banyan {

// True if the op is one of the four optimizers: members keep parameters and the optimizer's memory.
bool IsOptimizer(AggregationOp op);

// The optimizer's memory of one range of one tensor; a buffer that the op does not need is empty.
struct OptimizerSlices {
  uint64_t step = 0;     // number of the step to be made; the first is 1
  Buffer first_moment;   // momentum and nesterov: the velocity; adam: m
  Buffer second_moment;  // adam: v
};

// One step of one range of one tensor, before it is made.
struct OptimizerStep {
  AggregationConfig config;
  Buffer parameters;  // of this member
  OptimizerSlices slices;
};

// Makes `step` along `gradient`, the mean over all workers. Afterwards `gradient` holds a copy of the new parameters.
// With g = gradient + weight_decay * parameters the parameters grow by:
//   sgd       -rate * g
//   momentum  v = momentum * v + g, -rate * v
//   nesterov  v = momentum * v + g, -rate * (g + momentum * v)   (Sutskever et al. 2013, in the gradient's place)
//   adam      Kingma and Ba 2015, Algorithm 1, bias-corrected by slices.step
// REQUIRES: IsOptimizer(step.config.op); the parameters and the slices that the op needs are as long as `gradient`;
// slices.step > 0; nothing overlaps.
void MakeStep(OptimizerStep& step, absl::Span<float> gradient);

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_OPTIMIZER_H_
