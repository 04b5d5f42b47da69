#include "compression/int8_codec.h"

#include "compression/quantize_kernels.h"
#include "compression/scale_check.h"

namespace banyan {
namespace {

int64_t ScaleBytes(int64_t elements) { return QuantizeBlocks(elements) * static_cast<int64_t>(sizeof(float)); }

QuantizedFrame Parts(const uint8_t* frame, absl::Span<float> values) {
  return {.scales = frame, .levels = frame + ScaleBytes(static_cast<int64_t>(values.size()))};
}

}  // namespace

int64_t Int8Codec::FrameBytes(int64_t elements) const { return ScaleBytes(elements) + elements; }

void Int8Codec::EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const {
  QuantizeTo8Bits(values, seed, frame, frame + ScaleBytes(static_cast<int64_t>(values.size())));
}

absl::Status Int8Codec::CheckContent(const uint8_t* frame, int64_t elements) const {
  return CheckScales(name(), frame, QuantizeBlocks(elements));
}

void Int8Codec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  Decode8Bits(Parts(frame, values), values);
}

void Int8Codec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  Add8Bits(Parts(frame, values), values);
}

}  // namespace banyan
