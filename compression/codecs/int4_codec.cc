#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/quantize_kernels.h"

namespace banyan {
namespace {

// Half a byte per element and a scale per block of 256 (4.125 bits per element): stochastic quantization to 7 levels on
// either side of zero (QSGD, Alistarh et al. 2017, with the largest magnitude for the norm).
//
// Frame, little-endian: a float32 scale per block, the step between two levels; then ceil(n/2) bytes for each block of
// n: byte i has the level of its element i in the low half and that of element i + ceil(n/2) in the high half. Levels
// are in two's complement, zero where there is no element. An element is level times scale.
//
// Unbiased, each element for itself. Error: below one step, 1/7 of the largest magnitude m of the block; its variance
// is about a sixth of a squared step, so the normalized mean squared error is E[m^2] / (6 * 7^2 * E[x^2]): 0.032 for
// Gaussian values, 0.066 for Laplace. A block with an infinity or a not-a-number decodes to not-a-numbers, one whose
// magnitudes lie below 2^-90 to zeros. Stateless, hence thread-safe.
class Int4 : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kInt4; }

 protected:
  absl::string_view name() const override { return "int4"; }
  int64_t FrameBytes(int64_t elements) const override {
    const int64_t rest = elements % kQuantizeBlock;
    return QuantizeScaleBytes(elements) + (elements - rest) / 2 + (rest + 1) / 2;
  }

  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override {
    QuantizeTo4Bits(values, seed, frame, frame + QuantizeScaleBytes(static_cast<int64_t>(values.size())));
  }

  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override {
    // The last byte of an odd number of elements has a half for none.
    const uint8_t last = frame[FrameBytes(elements) - 1];
    if (elements % 2 != 0 && (last >> 4) != 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("expected 0 after the last of %d elements in int4, got %d", elements, last >> 4));
    }
    return CheckScales(name(), frame, QuantizeBlocks(elements));
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    Decode4Bits(QuantizedParts(frame, values.size()), values);
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override {
    Add4Bits(QuantizedParts(frame, values.size()), values);
  }
};

}  // namespace

const Codec& Int4Codec() {
  static const Int4 codec;
  return codec;
}

}  // namespace banyan
