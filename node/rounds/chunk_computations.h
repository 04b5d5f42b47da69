// The work on one chunk that NodeCore gives to the compute pool: adding up what came in, encoding the sum for the
// parent, finishing it at the root, reading the result. Each object holds shares of the buffers that it works on and
// touches nothing else; see protocol/computation.h for who owns it when. Its device, which outlives it, encodes,
// decodes and adds; the rest the processor does.
#ifndef BANYAN_NODE_ROUNDS_CHUNK_COMPUTATIONS_H_
#define BANYAN_NODE_ROUNDS_CHUNK_COMPUTATIONS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compression/chunk_device.h"
#include "compression/encoded_chunk.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "node/rounds/optimizer.h"
#include "proto/job_config.h"
#include "protocol/computation.h"

namespace banyan {

// Adds inputs into a chunk's accumulator: children's contributions as they arrive, or the workers' own gradients
// (PlainChunk shares their memory). One AccumulateChunk at a time works on an accumulator.
class AccumulateChunk : public Computation {
 public:
  // A fresh accumulator's contents count for nothing: the first input replaces them, without one they become zeros. An
  // empty `accumulator` is fresh and Run() makes the memory. Empty inputs add nothing. REQUIRES: the accumulator holds
  // `elements` of `type`, a sum type, that no input shares, or is empty; each input that is not empty is of `elements`.
  AccumulateChunk(Buffer accumulator, bool accumulator_is_fresh, std::vector<CheckedChunk> inputs, int64_t elements,
                  DataType type = DataType::kFloat32, const ChunkDevice& device = ProcessorDevice());

  void Run() override;
  int64_t size_bytes() const override { return size_bytes_; }
  std::optional<ServiceKind> service() const override { return ServiceKind::kSum; }

  // After Run(): that of the constructor, or other memory.
  const Buffer& accumulator() const { return accumulator_; }

 private:
  Buffer accumulator_;
  bool is_fresh_;
  std::vector<CheckedChunk> inputs_;  // none of them empty, but for the only one of a fresh accumulator
  int64_t elements_;
  DataType type_;
  const ChunkDevice& device_;
  int64_t size_bytes_ = 0;
};

// On an inner node or a leaf: encodes the sum for the parent, after the steps that netsense_encoding.h has. With error
// feedback what earlier rounds dropped is added first. What this encoding drops, or prunes, is the next residual.
class CompressChunk : public Computation {
 public:
  // `residual` is the node's of the chunk's range, empty without error feedback; `weights` are the model's, empty where
  // nothing is pruned. REQUIRES: until it has finished nothing writes the residual or the weights; afterwards nothing
  // writes the sum.
  CompressChunk(Buffer sum, uint32_t weight, Encoding encoding, Buffer residual, Buffer weights,
                const ChunkDevice& device = ProcessorDevice());

  void Run() override;
  int64_t size_bytes() const override;

  // After Run().
  const CheckedChunk& encoded() const { return encoded_; }
  // What is left to be made up for if a result comes of this; empty without error feedback.
  const Buffer& next_residual() const { return next_residual_; }

 private:
  // The sum without the gradients of the smallest weights.
  Buffer Pruned();

  Buffer sum_;
  uint32_t weight_;
  Encoding encoding_;
  Buffer residual_;
  Buffer weights_;
  const ChunkDevice& device_;
  CheckedChunk encoded_;
  Buffer next_residual_;
};

// What queues have cut of a contribution: its sum as it was sent, less the frames that its destination has taken.
class CutRemainder : public Computation {
 public:
  // `sum` lacked its last `cut_frames`, all but the heads at most.
  CutRemainder(CheckedChunk sum, uint32_t cut_frames, const ChunkDevice& device = ProcessorDevice())
      : sum_(std::move(sum)), cut_frames_(cut_frames), device_(device) {}

  void Run() override;
  int64_t size_bytes() const override;

  // After Run().
  const Buffer& left() const { return left_; }

 private:
  CheckedChunk sum_;
  uint32_t cut_frames_;
  const ChunkDevice& device_;
  Buffer left_;
};

// At the root: makes the round's one result of the complete sum, in the sum's own memory, and encodes it once. The
// result is the sum, or the mean for every other op: members step their optimizers themselves.
class FinishChunk : public Computation {
 public:
  // How the result is to be encoded.
  struct Coding {
    Encoding encoding;
    Buffer residual;  // the node's of the chunk's range, empty without error feedback
  };

  // A sum of an exact type is coded as it is, and without residuals. With weight 0 nobody contributed and the sum
  // itself is the result. The residual is in units of the sum, so that it is worth the same wherever it is added later.
  // REQUIRES: until it has finished nothing writes the residual; afterwards nothing writes the sum.
  FinishChunk(Buffer sum, uint32_t weight, AggregationOp op, Coding coding,
              const ChunkDevice& device = ProcessorDevice());

  void Run() override;
  int64_t size_bytes() const override;

  // After Run(). Its frames share the sum's memory; its weight is the sum's.
  const CheckedChunk& result() const { return result_; }
  // What is left to be made up for once the result is held; empty without error feedback, and without weight.
  const Buffer& next_residual() const { return next_residual_; }

 private:
  // The same of an exact type.
  void RunExact();

  Buffer sum_;
  uint32_t weight_;
  bool divides_;  // by the weight, which gives the mean
  Coding coding_;
  const ChunkDevice& device_;
  CheckedChunk result_;
  Buffer next_residual_;
};

// At every member, the root included: decodes a result, makes the optimizer's step with it where there is an optimizer,
// and hashes the numbers that workers get: the result, or the new parameters.
class ReadResult : public Computation {
 public:
  // `optimizer` is the member's, for the chunk's range; nullopt where workers get the result itself. REQUIRES: its
  // buffers hold result.elements() floats, and nothing else touches them until this has finished. `type` is the sum
  // type of the key, and float32 with an optimizer.
  ReadResult(CheckedChunk result, std::optional<OptimizerStep> optimizer, DataType type = DataType::kFloat32,
             const ChunkDevice& device = ProcessorDevice());

  void Run() override;
  int64_t size_bytes() const override;

  // After Run().
  // Of the sum type, and safe to hold and to read while later rounds run: the result's own frame where that is one
  // aligned plain frame of the whole chunk, otherwise memory of its own; with an optimizer a copy of the new
  // parameters.
  const Buffer& values() const { return values_; }
  // XXH3, 64 bits, of the values' bytes.
  uint64_t hash() const { return hash_; }
  const CheckedChunk& result() const { return result_; }

 private:
  Buffer Decoded() const;

  CheckedChunk result_;
  std::optional<OptimizerStep> optimizer_;
  DataType type_;
  const ChunkDevice& device_;
  Buffer values_;
  uint64_t hash_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_CHUNK_COMPUTATIONS_H_
