// Two bytes per element: one frame of little-endian IEEE 754 binary16, rounded to nearest even.
// Error: relative, at most 2^-11 from 2^-14 to 65504, and at most 2^-25 absolute below; values from 65520 on become
// infinity: chunks with such values are encoded otherwise (compression/overflow.h). Of rounding, hence biased for each
// element, but not in the mean over elements. Normalized mean squared error of Gaussian or Laplace values: below 2^-23.
// Infinities and not-a-numbers stay. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_FP16_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_FP16_CODEC_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/one_frame_codec.h"

namespace banyan {

class Fp16Codec : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kFp16; }

 protected:
  absl::string_view name() const override { return "fp16"; }
  int64_t FrameBytes(int64_t elements) const override;
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override;
  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override;
  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_FP16_CODEC_H_
