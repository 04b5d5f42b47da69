// The memory of one tensor at a node that outlives rounds: the parameters, the residuals of its encodings and of its
// votes, the weights that it prunes by, and the optimizer's moments. Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - Everything is indexed by the tensor's elements, never by chunk or tree, so that these may differ from round to
// round.
// - A buffer that is not needed takes no memory; one that is needed is zero before its first use.
// - With an optimizer the replica is the same on every member after every round, but on one that has joined and lacks
//   it still.
// - The image of a tensor is what a joiner needs of it: steps (uint64), parameters, moments, one behind the other in
//   the machine's order.
#ifndef BANYAN_NODE_ROUNDS_TENSOR_MEMORY_H_
#define BANYAN_NODE_ROUNDS_TENSOR_MEMORY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/buffer.h"
#include "node/rounds/committed_residual.h"
#include "node/rounds/optimizer.h"
#include "proto/job_config.h"
#include "topology/chunk_assignment.h"

namespace banyan {

// An optimizer's memory of one tensor at one member: velocities or moments of every element, and how many steps were
// made. Indexed by element, so that chunks and trees may differ from round to round. Thread-compatible; owned by
// RoundEngine.
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

class TensorMemory {
 public:
  struct Sizes {
    int64_t replica_bytes = 0;
    int64_t residual_bytes = 0;
    int64_t weights_bytes = 0;
    int64_t optimizer_bytes = 0;
  };

  // No optimizer steps a tensor of an exact type.
  TensorMemory(const AggregationConfig& aggregation, int64_t elements, DataType type = DataType::kFloat32)
      : aggregation_(IsExact(type) ? AggregationConfig{.op = AggregationOp::kSum} : aggregation),
        elements_(elements),
        sum_type_(SumTypeOf(type)),
        optimizer_(aggregation_.op, elements) {}

  // That of its sums and results.
  DataType sum_type() const { return sum_type_; }
  bool has_optimizer() const { return IsOptimizer(aggregation_.op); }

  // Each of these shares this object's memory, that of the residual for reading. REQUIRES: the range lies within the
  // tensor.
  Buffer Replica(const ElementRange& range) { return Part(replica_, range); }
  Buffer Residual(const ElementRange& range);
  // Replaces the residual of the range by `left`, which nobody writes any more. REQUIRES: as many elements.
  void CommitResidual(const ElementRange& range, Buffer left);
  // Adds what was cut of a contribution after the residual had been committed. REQUIRES: as many elements.
  void AddToResidual(const ElementRange& range, const Buffer& cut);
  // What votes on the tensor have left out.
  VoterResiduals& voters() { return voters_; }
  // Returns this member's step along a result of the range; nullopt where workers get the result itself.
  std::optional<OptimizerStep> Step(const ElementRange& range);
  // Counts the step that all ranges have made. REQUIRES: no computation works on one of its parts any more.
  void EndStep() { optimizer_.EndStep(); }

  // This node has joined when the tensor had been trained: it cannot step until it has an image of another member.
  void Lack() { lacks_replica_ = has_optimizer(); }
  bool lacks_replica() const { return lacks_replica_; }
  // REQUIRE: has_optimizer().
  int64_t image_bytes() const;
  // Copies a part of the image, from this byte on. REQUIRES: it lies within the image; no step is under way.
  void ReadImage(int64_t first_byte, absl::Span<uint8_t> to) const;
  absl::Span<const float> Parameters() const { return replica_.floats(); }
  // Takes the whole image of another member. REQUIRES: its size is image_bytes(), and lacks_replica().
  void TakeImage(absl::Span<const uint8_t> image);

  // Returns the weights of the range: the replica with an optimizer, else what SetWeights said; empty before that.
  Buffer Weights(const ElementRange& range);
  // Takes the tensor's weights as they are now, in memory that nobody writes. REQUIRES: as many elements; no optimizer.
  void SetWeights(Buffer weights);
  // Replaces weights that are still those at `registered` by a copy of them; with null, whichever there are.
  void MoveWeights(const void* registered, Buffer copy);
  // True the first time that it is called: weights were needed and nobody has said any.
  bool NoteMissingWeights() { return !std::exchange(misses_weights_, true); }

  Sizes sizes() const;

 private:
  // A part of the image. It is zero where there is no memory yet.
  struct Section {
    const void* data = nullptr;
    int64_t size_bytes = 0;
  };

  std::vector<Section> ImageSections() const;
  void CheckRange(const ElementRange& range) const;
  Buffer Part(Buffer& whole, const ElementRange& range);

  AggregationConfig aggregation_;
  int64_t elements_;
  DataType sum_type_;
  Buffer replica_;  // with an optimizer: the parameters
  CommittedResidual residual_;
  VoterResiduals voters_;
  Buffer weights_;  // as workers registered them
  bool misses_weights_ = false;
  bool lacks_replica_ = false;
  OptimizerState optimizer_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_TENSOR_MEMORY_H_
