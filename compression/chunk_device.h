// Where chunks are encoded, decoded and added up: the processor, or a device with memory of its own
// (runtime/compute_device.h). Values, frames and sums lie in the host's memory; both give the same bits, so that the
// nodes of a job may differ. Thread-safe.
#ifndef BANYAN_COMPRESSION_CHUNK_DEVICE_H_
#define BANYAN_COMPRESSION_CHUNK_DEVICE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/encoded_chunk.h"
#include "compression/encoding.h"
#include "core/buffer.h"

namespace banyan {

class ChunkDevice {
 public:
  virtual ~ChunkDevice() = default;

  // EncodeChunk().
  virtual CheckedChunk Encode(const Encoding& encoding, const Buffer& values, uint32_t weight) const = 0;

  // Adds the chunks to `sum` one after another. With `is_fresh` the first replaces what lies there, and there is one.
  // Otherwise `sum` may be other memory afterwards. REQUIRES: DecodeInto() and AddInto() take each of them.
  virtual void Add(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum) const = 0;
};

// The processor, which always can.
const ChunkDevice& ProcessorDevice();

// Returns whether the processor adds the first two chunks in one pass, instead of a copy and a sum.
bool AddsTwoAtOnce(absl::Span<const CheckedChunk> chunks, bool is_fresh);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CHUNK_DEVICE_H_
