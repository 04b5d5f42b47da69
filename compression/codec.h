// How the numbers of a chunk become bytes on the wire and numbers again. A codec has no state of its own: one const
// object serves every thread; error feedback lives with whoever encodes.
//
// The contract that every codec keeps, whatever its frames look like inside: each frame stands for numbers in its own
// element range of the chunk, and the chunk's value is the sum of its frames' values, zero where no frame reaches.
// Frames may overlap, so a later frame can refine an earlier one. Hence chunks are added frame by frame, and any subset
// of valid frames can be decoded.
#ifndef BANYAN_COMPRESSION_CODEC_H_
#define BANYAN_COMPRESSION_CODEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compression/encoding.h"
#include "core/buffer.h"
#include "proto/chunk_message.h"

namespace banyan {

class Codec {
 public:
  virtual ~Codec() = default;

  virtual CodecId id() const = 0;

  // The frames of a whole chunk with their headers appended to `frames`, the most important first; none for no values.
  // REQUIRES: encoding.codec == id().
  // They may share the memory of `values`, which therefore nobody writes as long as a frame lives.
  virtual Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const = 0;

  // Everything that can be wrong with a frame that a peer sent: its range leaves the chunk of `chunk_elements`, its
  // bytes are not what the range asks for. Whatever passes here decodes. Frames need no alignment; not-a-numbers are
  // numbers like any other.
  virtual absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const = 0;

  // Replaces the elements of the frame's range in `chunk`, which is the whole chunk. REQUIRES: Check() passed.
  virtual void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const = 0;

  // Adds the frame to `chunk`, which is the whole chunk. REQUIRES: Check() passed.
  virtual void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const = 0;
};

// The codec of that id, null when this program does not know it.
const Codec* CodecFor(CodecId id);

// All that CodecFor knows.
std::vector<CodecId> KnownCodecs();

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODEC_H_
