#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/half_float.h"

namespace banyan {
namespace {

// Two bytes per element: one frame of little-endian IEEE 754 binary16, rounded to nearest even.
// Error: relative, at most 2^-11 from 2^-14 to 65504, and at most 2^-25 absolute below; values from 65520 on become
// infinity: chunks with such values are encoded otherwise (WithoutOverflow). Of rounding, hence biased for each
// element, but not in the mean over elements. Normalized mean squared error of Gaussian or Laplace values: below 2^-23.
// Infinities and not-a-numbers stay. Stateless, hence thread-safe.
class Fp16 : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kFp16; }

 protected:
  absl::string_view name() const override { return "fp16"; }
  int64_t FrameBytes(int64_t elements) const override { return 2 * elements; }
  void EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const override {
    FloatsToHalves(values, frame);
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override { HalvesToFloats(frame, values); }
  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override { AddHalvesInto(values, frame); }
};

}  // namespace

const Codec& Fp16Codec() {
  static const Fp16 codec;
  return codec;
}

}  // namespace banyan
