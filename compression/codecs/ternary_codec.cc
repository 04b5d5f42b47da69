#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/ternary_kernels.h"

namespace banyan {
namespace {

int64_t ScaleBytes(int64_t elements) { return TernaryBlocks(elements) * static_cast<int64_t>(sizeof(float)); }

const uint8_t* TritsOf(const uint8_t* frame, absl::Span<float> values) {
  return frame + ScaleBytes(static_cast<int64_t>(values.size()));
}

// Five elements per byte and a scale per block of 320 (1.7 bits per element): -1, 0 or 1 times the largest magnitude of
// the block, by chance (TernGrad, Wen et al. 2017, without its clipping, which would bias it). Five to a byte rather
// than four, as 3^5 = 243 fits and saves a fifth.
//
// Frame, little-endian: a float32 scale per block, its largest magnitude m; then the bytes of ternary_kernels.h. An
// element is its ternary times the scale.
//
// Unbiased, each element for itself. Its variance is m |x| - x^2, so the normalized mean squared error is
// E[m] E[|x|] / E[x^2] - 1: 1.48 for Gaussian values, 2.17 for Laplace. Being above 1, error feedback keeps more
// than a gradient, until what is kept has become even enough: it settles at about 40 times the gradient's energy.
// Better without, as the mean over rounds is right anyway. A block with an infinity or a not-a-number decodes to
// not-a-numbers, one whose magnitudes lie below 2^-90 to zeros. Stateless, hence thread-safe.
class Ternary : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kTernary; }

 protected:
  absl::string_view name() const override { return "ternary"; }
  int64_t FrameBytes(int64_t elements) const override { return ScaleBytes(elements) + TritBytes(elements); }
  void EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const override {
    EncodeTernary(values, seed, frame, frame + ScaleBytes(static_cast<int64_t>(values.size())));
  }

  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override {
    if (!AreTrits(frame + ScaleBytes(elements), elements)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "expected bytes up to 242 and zeros after the last of %d elements in ternary, got others", elements));
    }
    return CheckScales(name(), frame, TernaryBlocks(elements));
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    DecodeTernary(frame, TritsOf(frame, values), values);
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override {
    AddTernary(frame, TritsOf(frame, values), values);
  }
};

}  // namespace

const Codec& TernaryCodec() {
  static const Ternary codec;
  return codec;
}

}  // namespace banyan
