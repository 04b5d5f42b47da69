#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/quantize_kernels.h"

namespace banyan {
namespace {

// One byte per element and a scale per block of 256 (8.125 bits per element): stochastic quantization to 127 levels on
// either side of zero (QSGD, Alistarh et al. 2017, with the largest magnitude for the norm).
//
// Frame, little-endian: a float32 scale per block, the step between two levels; then a byte per element, its level in
// two's complement. An element is level times scale.
//
// Unbiased, each element for itself. Error: below one step, 1/127 of the largest magnitude m of the block; its variance
// is a sixth of a squared step, so the normalized mean squared error is E[m^2] / (6 * 127^2 * E[x^2]): 9.7e-5 for
// Gaussian values, 2.0e-4 for Laplace. A block with an infinity or a not-a-number decodes to not-a-numbers, one whose
// magnitudes lie below 2^-90 to zeros. Stateless, hence thread-safe.
class Int8 : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kInt8; }

 protected:
  absl::string_view name() const override { return "int8"; }
  int64_t FrameBytes(int64_t elements) const override { return QuantizeScaleBytes(elements) + elements; }
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override {
    QuantizeTo8Bits(values, seed, frame, frame + QuantizeScaleBytes(static_cast<int64_t>(values.size())));
  }

  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override {
    return CheckScales(name(), frame, QuantizeBlocks(elements));
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    Decode8Bits(QuantizedParts(frame, values.size()), values);
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override {
    Add8Bits(QuantizedParts(frame, values.size()), values);
  }
};

}  // namespace

const Codec& Int8Codec() {
  static const Int8 codec;
  return codec;
}

}  // namespace banyan
