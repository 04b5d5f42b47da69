#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/half_float.h"

namespace banyan {
namespace {

// Two bytes per element: one frame of little-endian bfloat16, the upper half of a float32, rounded to nearest even.
// Error: relative, at most 2^-8, at every magnitude that float32 has in full precision. Of rounding, hence biased for
// each element, but not in the mean over elements. Normalized mean squared error of Gaussian or Laplace values: about
// 2^-18, always below 2^-16. Infinities and not-a-numbers stay. Stateless, hence thread-safe.
class Bf16 : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kBf16; }

 protected:
  absl::string_view name() const override { return "bf16"; }
  int64_t FrameBytes(int64_t elements) const override { return 2 * elements; }
  void EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const override {
    FloatsToBrainFloats(values, frame);
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    BrainFloatsToFloats(frame, values);
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override { AddBrainFloatsInto(values, frame); }
};

}  // namespace

const Codec& Bf16Codec() {
  static const Bf16 codec;
  return codec;
}

}  // namespace banyan
