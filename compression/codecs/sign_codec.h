// One bit per element and a scale per block of 1,024 (1.03 bits per element): the signs, each standing for the mean
// magnitude of its block, which of all scales leaves the smallest error (scaled signSGD, Karimireddy et al. 2019).
//
// Frame, little-endian: a float32 scale per block; then the signs of all elements in the order of sign_bits.h, with
// zero bits after the last. The mean is the sum of lane_sums.h over the number of elements, rounded to float32.
//
// Biased, so it wants error feedback: large elements shrink, small ones grow. Normalized mean squared error:
// 1 - E[|x|]^2 / E[x^2], which is 1 - 2/pi = 0.363 for Gaussian values and 0.5 for Laplace; never more than 1 - 1/1024.
// A block with an infinity or a not-a-number decodes to not-a-numbers. Stateless, hence thread-safe.
#ifndef BANYAN_COMPRESSION_CODECS_SIGN_CODEC_H_
#define BANYAN_COMPRESSION_CODECS_SIGN_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/one_frame_codec.h"

namespace banyan {

class SignCodec : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kSign; }

 protected:
  absl::string_view name() const override { return "sign"; }
  int64_t FrameBytes(int64_t elements) const override;
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override;
  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override;
  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override;
  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_SIGN_CODEC_H_
