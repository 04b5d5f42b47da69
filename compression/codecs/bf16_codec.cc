#include "compression/codecs/bf16_codec.h"

#include "compression/kernels/brain_float.h"

namespace banyan {

int64_t Bf16Codec::FrameBytes(int64_t elements) const { return 2 * elements; }

void Bf16Codec::EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const {
  FloatsToBrainFloats(values, frame);
}

void Bf16Codec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  BrainFloatsToFloats(frame, values);
}

void Bf16Codec::AddFrame(const uint8_t* frame, absl::Span<float> values) const { AddBrainFloatsInto(values, frame); }

}  // namespace banyan
