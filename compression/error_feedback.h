// Error feedback: what an encoding drops is kept and added to what is encoded next, so that nothing is lost but time.
// DC2, section III-C, calls it "error compensation"; others call it "memory". The residual lives with whoever encodes,
// indexed by the tensor's elements. Pure functions.
#ifndef BANYAN_COMPRESSION_ERROR_FEEDBACK_H_
#define BANYAN_COMPRESSION_ERROR_FEEDBACK_H_

#include "absl/types/span.h"
#include "compression/chunk_device.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"

namespace banyan {

// values[i] += residual[i]. REQUIRES: equal lengths, no overlap.
void AddResidual(absl::Span<const float> residual, absl::Span<float> values);

// residual[i] = factor * (values[i] - what `encoded` says there, as `device` decodes it). What is no finite number
// drops out: one infinite gradient would otherwise come back in every round. REQUIRES: `encoded` was made from
// `values`; equal lengths, no overlap.
void KeepDropped(const CheckedChunk& encoded, absl::Span<const float> values, float factor, Buffer& residual,
                 const ChunkDevice& device = ProcessorDevice());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ERROR_FEEDBACK_H_
