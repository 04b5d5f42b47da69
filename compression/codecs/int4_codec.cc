#include "compression/codecs/int4_codec.h"

#include "absl/strings/str_format.h"
#include "compression/codecs/scale_check.h"
#include "compression/kernels/quantize_kernels.h"

namespace banyan {
int64_t Int4Codec::FrameBytes(int64_t elements) const {
  const int64_t rest = elements % kQuantizeBlock;
  return QuantizeScaleBytes(elements) + (elements - rest) / 2 + (rest + 1) / 2;
}

void Int4Codec::EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const {
  QuantizeTo4Bits(values, seed, frame, frame + QuantizeScaleBytes(static_cast<int64_t>(values.size())));
}

absl::Status Int4Codec::CheckContent(const uint8_t* frame, int64_t elements) const {
  // The last byte of an odd number of elements has a half for none.
  const uint8_t last = frame[FrameBytes(elements) - 1];
  if (elements % 2 != 0 && (last >> 4) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected 0 after the last of %d elements in int4, got %d", elements, last >> 4));
  }
  return CheckScales(name(), frame, QuantizeBlocks(elements));
}

void Int4Codec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  Decode4Bits(QuantizedParts(frame, values.size()), values);
}

void Int4Codec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  Add4Bits(QuantizedParts(frame, values.size()), values);
}

}  // namespace banyan
