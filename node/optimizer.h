// The server-side optimizers: what a root makes of a sum of gradients when the job lets it train instead of average.
// The result is the update that every member adds to its values. Pure functions on memory that the caller owns.
#ifndef BANYAN_NODE_OPTIMIZER_H_
#define BANYAN_NODE_OPTIMIZER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "proto/job_config.h"

namespace banyan {

// Whether the op is one of the four optimizers: its result is an update, and its root keeps state.
bool IsOptimizer(AggregationOp op);

// The optimizer's memory for one range of one tensor; a buffer that the op does not need is empty.
struct OptimizerSlices {
  uint64_t step = 0;     // of this update: 1 is the first one
  Buffer first_moment;   // momentum and nesterov: the velocity; adam: m
  Buffer second_moment;  // adam: v
};

// Turns sum[i] into update[i] for one range of a tensor. With g = sum / weight + weight_decay * values:
//   sgd       update = -rate * g
//   momentum  v = momentum * v + g, update = -rate * v
//   nesterov  v = momentum * v + g, update = -rate * (g + momentum * v)   (Sutskever et al. 2013, in the gradient's
//   place) adam      Kingma and Ba 2015, Algorithm 1, bias-corrected by slices.step
// REQUIRES: IsOptimizer(config.op), weight > 0, all spans and slices equally long, except that `values` may be empty
// without weight decay. `update` may be the memory of `sum`; otherwise nothing overlaps.
void ApplyOptimizer(const AggregationConfig& config, absl::Span<const float> sum, uint32_t weight,
                    absl::Span<const float> values, OptimizerSlices slices, absl::Span<float> update);

}  // namespace banyan

#endif  // BANYAN_NODE_OPTIMIZER_H_
