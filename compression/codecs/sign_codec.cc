#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/codecs/frame_check.h"
#include "compression/codecs/one_frame_codec.h"
#include "compression/kernels/sign_bits.h"
#include "compression/kernels/sign_layout.h"

namespace banyan {
namespace {

constexpr int64_t kScaleBytes = sizeof(float);

// Calls use(values of the block, its scale, its bits) for each block.
template <typename Float, typename Byte, typename Use>
void ForEachBlock(absl::Span<Float> values, Byte* frame, Use use) {
  const int64_t elements = static_cast<int64_t>(values.size());
  Byte* bits = frame + SignBlocks(elements) * kScaleBytes;
  for (int64_t first = 0; first < elements; first += kSignBlock) {
    use(values.subspan(first, std::min(kSignBlock, elements - first)), frame, bits);
    frame += kScaleBytes;
    bits += SignBytes(kSignBlock);
  }
}

float ScaleAt(const uint8_t* bytes) {
  float scale;
  std::memcpy(&scale, bytes, sizeof(scale));
  return scale;
}

// One bit per element and a scale per block of 1,024 (1.03 bits per element): the signs, each standing for the mean
// magnitude of its block, which of all scales leaves the smallest error (scaled signSGD, Karimireddy et al. 2019).
//
// Frame, little-endian: a float32 scale per block; then the signs of all elements in the order of sign_bits.h, with
// zero bits after the last. The mean is the sum of vector_math.h over the number of elements, rounded to float32.
//
// Biased, so it wants error feedback: large elements shrink, small ones grow. Normalized mean squared error:
// 1 - E[|x|]^2 / E[x^2], which is 1 - 2/pi = 0.363 for Gaussian values and 0.5 for Laplace; never more than 1 - 1/1024.
// A block with an infinity or a not-a-number decodes to not-a-numbers. Stateless, hence thread-safe.
class Sign : public OneFrameCodec {
 public:
  CodecId id() const override { return CodecId::kSign; }

 protected:
  absl::string_view name() const override { return "sign"; }
  int64_t FrameBytes(int64_t elements) const override {
    return SignBlocks(elements) * kScaleBytes + SignBytes(elements);
  }

  void EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const override {
    ForEachBlock(values, frame, [](absl::Span<const float> block, uint8_t* scale_bytes, uint8_t* bits) {
      const float scale = MeanMagnitude(PackSigns(block, bits), static_cast<int64_t>(block.size()));
      std::memcpy(scale_bytes, &scale, sizeof(scale));
    });
  }

  absl::Status CheckContent(const uint8_t* frame, int64_t elements) const override {
    if (!IsPaddingZero(frame + SignBlocks(elements) * kScaleBytes, elements)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("expected zero bits after the signs of %d elements in sign, got others", elements));
    }
    return CheckScales(name(), frame, SignBlocks(elements));
  }

  void DecodeFrame(const uint8_t* frame, absl::Span<float> values) const override {
    ForEachBlock(values, frame, [](absl::Span<float> block, const uint8_t* scale, const uint8_t* bits) {
      UnpackSigns(bits, ScaleAt(scale), block);
    });
  }

  void AddFrame(const uint8_t* frame, absl::Span<float> values) const override {
    ForEachBlock(values, frame, [](absl::Span<float> block, const uint8_t* scale, const uint8_t* bits) {
      AddSigns(bits, ScaleAt(scale), block);
    });
  }
};

}  // namespace

const Codec& SignCodec() {
  static const Sign codec;
  return codec;
}

}  // namespace banyan
