// A chunk's payload with its frames' headers, as it travels. Copying one shares the frames' memory. Value;
// thread-compatible.
#ifndef BANYAN_COMPRESSION_ENCODED_CHUNK_H_
#define BANYAN_COMPRESSION_ENCODED_CHUNK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

struct EncodedChunk {
  std::vector<FrameHeader> frames;
  Payload payload;      // payload[i] belongs to frames[i]
  uint32_t weight = 0;  // workers whose gradients are in it

  // Says nothing: every element is zero.
  bool empty() const { return frames.empty(); }
};

// `values` as one chunk, encoded as `encoding` says. REQUIRES: this program knows its codec.
EncodedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight);

// Checks that `chunk` can be decoded into `chunk_elements` numbers. The error names the frame, what it should be and
// what it is. The two functions below REQUIRE that this passed for `values.size()`.
absl::Status CheckChunk(const EncodedChunk& chunk, int64_t chunk_elements);

// Replaces all of `values` by what the chunk says.
void DecodeChunk(const EncodedChunk& chunk, absl::Span<float> values);

// Adds what the chunk says to `values`.
void DecodeAddChunk(const EncodedChunk& chunk, absl::Span<float> values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ENCODED_CHUNK_H_
