// A chunk's payload with its frames' headers, as it travels, and the same once it is known to decode. Copying one
// shares the frames' memory. Values; thread-compatible.
#ifndef BANYAN_COMPRESSION_ENCODED_CHUNK_H_
#define BANYAN_COMPRESSION_ENCODED_CHUNK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

// What a peer has sent, or what travels: nothing is known of it yet.
struct EncodedChunk {
  std::vector<FrameHeader> frames;
  Payload payload;      // payload[i] belongs to frames[i]
  uint32_t weight = 0;  // workers whose gradients are in it

  // True if it says nothing: every element is zero.
  bool empty() const { return frames.empty(); }
};

// A chunk that decodes: this program made it, or CheckChunk has looked at it. Nobody needs to check it again.
//
// Invariants:
// - Every frame passed its codec's Check() for elements() numbers.
// - Ranges rise and do not overlap: no element counts twice.
// - The levels of a range come once each, in order, from 0 on.
class CheckedChunk {
 public:
  // Says nothing, of any number of elements.
  CheckedChunk() = default;

  const EncodedChunk& encoded() const { return encoded_; }
  uint32_t weight() const { return encoded_.weight; }
  bool empty() const { return encoded_.empty(); }
  // How many numbers it decodes into.
  int64_t elements() const { return elements_; }
  int64_t payload_bytes() const { return PayloadBytes(encoded_.payload); }

 private:
  friend CheckedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight);
  friend absl::StatusOr<CheckedChunk> CheckChunk(EncodedChunk chunk, int64_t chunk_elements);
  friend CheckedChunk OwnChunk(EncodedChunk chunk, int64_t chunk_elements);
  friend CheckedChunk CutChunk(const CheckedChunk& chunk, size_t frames);

  CheckedChunk(EncodedChunk encoded, int64_t elements) : encoded_(std::move(encoded)), elements_(elements) {}

  EncodedChunk encoded_;
  int64_t elements_ = 0;
};

// Returns the encoding, or one in kFp32 where the codec would make an infinity of a finite one of these values: a
// sum on the way up may be far larger than the mean that comes of it, and a value that has become infinite there is
// lost for all. What is not finite already makes no difference.
Encoding WithoutOverflow(Encoding encoding, absl::Span<const float> values);

// Encodes `values` as one chunk, as `encoding` says. REQUIRES: this program knows its codec.
CheckedChunk EncodeChunk(const Encoding& encoding, const Buffer& values, uint32_t weight);

// Returns the chunk if it decodes into `chunk_elements` numbers. INVALID_ARGUMENT names the frame, what it should be
// and what it is.
absl::StatusOr<CheckedChunk> CheckChunk(EncodedChunk chunk, int64_t chunk_elements);

// Returns a chunk that this program has encoded otherwise, without a look at it. REQUIRES: CheckChunk would return it.
CheckedChunk OwnChunk(EncodedChunk chunk, int64_t chunk_elements);

// Replaces all of `values` by what the chunk says. REQUIRES, as does the next: the chunk is empty or was checked for
// values.size() elements.
void DecodeChunk(const CheckedChunk& chunk, absl::Span<float> values);

// Adds what the chunk says to `values`.
void DecodeAddChunk(const CheckedChunk& chunk, absl::Span<float> values);

// Returns the chunk with its first `frames` frames alone: what the others would have added is missing. Those of level 0
// stay, which lie in front.
CheckedChunk CutChunk(const CheckedChunk& chunk, size_t frames);

// Returns the chunk with the first of its frames alone that take `share` of its payload's bytes at most, and those of
// level 0. REQUIRES: `share` in [0, 1].
CheckedChunk CutToShare(const CheckedChunk& chunk, double share);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ENCODED_CHUNK_H_
