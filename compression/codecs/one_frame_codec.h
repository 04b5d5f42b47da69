// Base class of the codecs that write a chunk as one frame over all of its elements. The frame's size follows from
// their number. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_ONE_FRAME_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_ONE_FRAME_CODEC_H_

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
  // Returns the codec's name, for error messages.
  virtual absl::string_view name() const = 0;
  // Returns the exact size of a frame in bytes. REQUIRES: elements > 0.
  virtual int64_t FrameBytes(int64_t elements) const = 0;
  // Writes every one of the frame's bytes. REQUIRES: there are values.
  virtual void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const = 0;
  // Checks the content of a frame of the right size; by default any content is right.
  virtual absl::Status CheckContent(const uint8_t* frame, int64_t elements) const;
  // Writes, or adds to, all `values`. REQUIRES: the frame was checked for that many, and there are some.
  virtual void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const = 0;
  virtual void AddFrame(const uint8_t* frame, absl::Span<float> values) const = 0;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_ONE_FRAME_CODEC_H_
