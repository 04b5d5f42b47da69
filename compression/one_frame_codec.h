// What the codecs have in common that write a chunk as one frame over all of its elements, of a size that follows from
// their number. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_ONE_FRAME_CODEC_H_
#define BANYAN_COMPRESSION_ONE_FRAME_CODEC_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "compression/codec.h"

namespace banyan {

class OneFrameCodec : public Codec {
 public:
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const final;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const final;
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const final;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const final;

 protected:
  // For error messages.
  virtual absl::string_view name() const = 0;
  // The exact size of a frame. REQUIRES: elements > 0.
  virtual int64_t FrameBytes(int64_t elements) const = 0;
  // Writes every one of the frame's bytes. REQUIRES: there are values.
  virtual void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const = 0;
  // What can be wrong with a frame of the right size; nothing by default.
  virtual absl::Status CheckContent(const uint8_t* frame, int64_t elements) const;
  // Writes, or adds to, all `values`. REQUIRES: the frame was checked for that many, and there are some.
  virtual void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const = 0;
  virtual void AddFrame(const uint8_t* frame, absl::Span<float> values) const = 0;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ONE_FRAME_CODEC_H_
