// The interface of all codecs: a chunk's numbers become frames of bytes on the wire, and numbers again.
// compression/codec_registry.h has the codecs. A codec has no state of its own: one const object serves every thread.
// Error feedback lives with whoever encodes.
//
// Invariants, whatever the frames look like inside:
// - Each frame stands for numbers in its own element range of the chunk, and is a level of that range. Most codecs have
//   one level. Of others, the levels from 0 up to any that came decode together, the better the more there are.
// - The chunk's value is the sum of its ranges' values, zero where no range reaches. Ranges do not overlap.
// - Hence chunks are added range by range, and any subset of valid frames in which no level lacks one before it can be
//   decoded.
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

  // Encodes a whole chunk: returns its frames and appends their headers to `frames`, the most important first. No
  // values give no frames. A frame may share the memory of `values`, which nobody may write as long as it lives.
  // REQUIRES: encoding.codec == id().
  virtual Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const = 0;

  // Checks all that can be wrong with a frame that a peer sent: that its range lies in the chunk of `chunk_elements`
  // elements, and that its bytes are what the range asks for. A frame that passes can be decoded. Frames need no
  // alignment; a NaN is a number like any other.
  virtual absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const = 0;

  // In how many levels a range is written.
  virtual int levels() const { return 1; }

  // Replaces the elements of the frame's range in `chunk`, which is the whole chunk, by what the frame alone says.
  // REQUIRES: Check() passed, and the frame is of level 0.
  virtual void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const = 0;

  // Adds the frame to `chunk`, which is the whole chunk. REQUIRES: Check() passed.
  virtual void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const = 0;

  // The same with what the first levels.size() levels of the range of `range` say together. REQUIRES: Check() passed
  // for each, and there is at least one.
  virtual void DecodeLevels(const FrameHeader& range, absl::Span<const Buffer> levels, absl::Span<float> chunk) const {
    Decode(range, levels[0], chunk);
  }
  virtual void DecodeAddLevels(const FrameHeader& range, absl::Span<const Buffer> levels,
                               absl::Span<float> chunk) const {
    DecodeAdd(range, levels[0], chunk);
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODEC_H_
