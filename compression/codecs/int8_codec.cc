#include "compression/codecs/int8_codec.h"

#include "compression/codecs/scale_check.h"
#include "compression/kernels/quantize_kernels.h"

namespace banyan {
int64_t Int8Codec::FrameBytes(int64_t elements) const { return QuantizeScaleBytes(elements) + elements; }

void Int8Codec::EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const {
  QuantizeTo8Bits(values, seed, frame, frame + QuantizeScaleBytes(static_cast<int64_t>(values.size())));
}

absl::Status Int8Codec::CheckContent(const uint8_t* frame, int64_t elements) const {
  return CheckScales(name(), frame, QuantizeBlocks(elements));
}

void Int8Codec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  Decode8Bits(QuantizedParts(frame, values.size()), values);
}

void Int8Codec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  Add8Bits(QuantizedParts(frame, values.size()), values);
}

}  // namespace banyan
