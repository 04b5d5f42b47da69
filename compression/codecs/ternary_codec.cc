#include "compression/codecs/ternary_codec.h"

#include "absl/strings/str_format.h"
#include "compression/codecs/scale_check.h"
#include "compression/kernels/ternary_kernels.h"

namespace banyan {
namespace {

int64_t ScaleBytes(int64_t elements) { return TernaryBlocks(elements) * static_cast<int64_t>(sizeof(float)); }

const uint8_t* TritsOf(const uint8_t* frame, absl::Span<float> values) {
  return frame + ScaleBytes(static_cast<int64_t>(values.size()));
}

}  // namespace

int64_t TernaryCodec::FrameBytes(int64_t elements) const { return ScaleBytes(elements) + TritBytes(elements); }

void TernaryCodec::EncodeFrame(absl::Span<const float> values, uint64_t seed, uint8_t* frame) const {
  EncodeTernary(values, seed, frame, frame + ScaleBytes(static_cast<int64_t>(values.size())));
}

absl::Status TernaryCodec::CheckContent(const uint8_t* frame, int64_t elements) const {
  if (!AreTrits(frame + ScaleBytes(elements), elements)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "expected bytes up to 242 and zeros after the last of %d elements in ternary, got others", elements));
  }
  return CheckScales(name(), frame, TernaryBlocks(elements));
}

void TernaryCodec::DecodeFrame(const uint8_t* frame, absl::Span<float> values) const {
  DecodeTernary(frame, TritsOf(frame, values), values);
}

void TernaryCodec::AddFrame(const uint8_t* frame, absl::Span<float> values) const {
  AddTernary(frame, TritsOf(frame, values), values);
}

}  // namespace banyan
