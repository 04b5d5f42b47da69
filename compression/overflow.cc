#include "compression/overflow.h"

#include <bit>
#include <cstdint>
#include <optional>

#include "compression/kernels/not_finite.h"

namespace banyan {
namespace {

// Half a step beyond the largest number of the format: from here on values are rounded to infinity.
constexpr float kEndOfHalves = 65520;
constexpr float kEndOfBrainFloats = std::bit_cast<float>(uint32_t{0x7f7f8000});

std::optional<float> EndOf(CodecId codec) {
  if (codec == CodecId::kFp16) return kEndOfHalves;
  if (codec == CodecId::kBf16) return kEndOfBrainFloats;
  // The others scale by what is in the chunk, or keep float32.
  return std::nullopt;
}

}  // namespace

Encoding WithoutOverflow(Encoding encoding, absl::Span<const float> values) {
  const std::optional<float> end = EndOf(encoding.codec);
  if (end.has_value() && HasFiniteFrom(values, *end)) encoding.codec = CodecId::kFp32;
  return encoding;
}

}  // namespace banyan
