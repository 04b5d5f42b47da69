// Chunks on a device: what encoded_chunk.h does on the processor, from the host's memory and back to it. Bytes and sums
// are the same to the last bit. The codecs fp32, fp16, topk, sign and onebit_rht have kernels.
//
//   absl::StatusOr<CheckedChunk> chunk = EncodeOnDevice({.codec = CodecId::kTopK, .ratio = 0.01}, values, 1, device);
//   absl::Status added = AddOnDevice({received, *chunk}, false, sum, device);
//
// ResourceExhausted says that the device's memory does not suffice; after another error the device can do no more.
// Pure functions but for the device's work.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compression/cuda/device.h"
#include "compression/encoded_chunk.h"
#include "compression/encoding.h"
#include "core/buffer.h"

namespace banyan {

// Returns whether the two below take the codec, and every frame of the chunk.
bool HasKernels(CodecId codec);
bool HasKernels(const CheckedChunk& chunk);

// EncodeChunk(). REQUIRES: HasKernels(encoding.codec); `values` is float32.
absl::StatusOr<CheckedChunk> EncodeOnDevice(const Encoding& encoding, const Buffer& values, uint32_t weight,
                                            Device& device);

// Adds the chunks to `sum` one after another; with `is_fresh` the first replaces what lies there. After an error what
// was in a sum that is not fresh is still there; otherwise it is other memory. REQUIRES: HasKernels() of each, which
// was checked for sum.elements() or is empty; `sum` is float32; with `is_fresh` there is a chunk.
absl::Status AddOnDevice(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum, Device& device);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_CHUNK_H_
