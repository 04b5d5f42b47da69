#include "compression/codecs/sign_codec.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "compression/codecs/scale_check.h"
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

}  // namespace

int64_t SignCodec::FrameBytes(int64_t elements) const {
  return SignBlocks(elements) * kScaleBytes + SignBytes(elements);
}

void SignCodec::EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const {
  ForEachBlock(values, frame, [](absl::Span<const float> block, uint8_t* scale_bytes, uint8_t* bits) {
    const float scale = MeanMagnitude(PackSigns(block, bits), static_cast<int64_t>(block.size()));
    std::memcpy(scale_bytes, &scale, sizeof(scale));
  });
}

absl::Status SignCodec::CheckContent(const uint8_t* frame, int64_t elements) const {
  if (!IsPaddingZero(frame + SignBlocks(elements) * kScaleBytes, elements)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected zero bits after the signs of %d elements in sign, got others", elements));
  }
  return CheckScales(name(), frame, SignBlocks(elements));
}

void SignCodec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  ForEachBlock(values, frame, [](absl::Span<float> block, const uint8_t* scale, const uint8_t* bits) {
    UnpackSigns(bits, ScaleAt(scale), block);
  });
}

void SignCodec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  ForEachBlock(values, frame, [](absl::Span<float> block, const uint8_t* scale, const uint8_t* bits) {
    AddSigns(bits, ScaleAt(scale), block);
  });
}

}  // namespace banyan
