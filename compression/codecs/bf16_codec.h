// Two bytes per element: one frame of little-endian bfloat16, the upper half of a float32, rounded to nearest even.
// Error: relative, at most 2^-8, at every magnitude that float32 has in full precision. Of rounding, hence biased for
// each element, but not in the mean over elements. Normalized mean squared error of Gaussian or Laplace values: about
// 2^-18, always below 2^-16. Infinities and not-a-numbers stay. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_BF16_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_BF16_CODEC_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/one_frame_codec.h"

namespace banyan {

class Bf16Codec : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kBf16; }

 protected:
  absl::string_view name() const override { return "bf16"; }
  int64_t FrameBytes(int64_t elements) const override;
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override;
  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override;
  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_BF16_CODEC_H_
