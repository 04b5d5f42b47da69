// Lossless: one frame of little-endian float32. Encoding copies nothing, the frame is the values' own memory.
// Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_FP32_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_FP32_CODEC_H_

#include <vector>

#include "compression/codec.h"

namespace banyan {

class Fp32Codec : public Codec {
 public:
  CodecId id() const override { return CodecId::kFp32; }
  Payload Encode(const Buffer& values, const Encoding& encoding, std::vector<FrameHeader>* frames) const override;
  absl::Status Check(const FrameHeader& header, const Buffer& frame, int64_t chunk_elements) const override;
  void Decode(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
  void DecodeAdd(const FrameHeader& header, const Buffer& frame, absl::Span<float> chunk) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_FP32_CODEC_H_
