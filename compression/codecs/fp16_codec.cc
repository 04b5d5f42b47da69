#include "compression/codecs/fp16_codec.h"

#include "compression/kernels/half_float.h"

namespace banyan {

int64_t Fp16Codec::FrameBytes(int64_t elements) const { return 2 * elements; }

void Fp16Codec::EncodeFrame(absl::Span<const float> values, uint64_t, uint8_t* frame) const {
  FloatsToHalves(values, frame);
}

void Fp16Codec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const { HalvesToFloats(frame, values); }

void Fp16Codec::AddFrame(const uint8_t* frame, absl::Span<float> values) const { AddHalvesInto(values, frame); }

}  // namespace banyan
