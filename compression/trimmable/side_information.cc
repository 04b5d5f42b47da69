#include "compression/trimmable/side_information.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "compression/codecs/frame_check.h"
#include "compression/kernels/sign_bits.h"
#include "compression/kernels/vector_math.h"
#include "compression/trimmable/level_bits.h"

namespace banyan {

float RootMeanSquare(absl::Span<const float> values) {
  const auto root = static_cast<float>(std::sqrt(SumOfSquares(values) / static_cast<double>(values.size())));
  return std::isfinite(root) ? root : std::numeric_limits<float>::quiet_NaN();
}

absl::Status CheckHead(absl::string_view codec, const uint8_t* scale, const uint8_t* signs, int64_t elements) {
  if (!IsPaddingZero(signs, elements)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected zero bits after the signs of %d elements in %s, got others", elements, codec));
  }
  return CheckScales(codec, scale, 1);
}

absl::Status CheckTails(absl::string_view codec, const uint8_t* tails, int64_t elements) {
  if (IsTailPaddingZero(tails, elements)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected zero bits beside the tails of %d elements in %s, got others", elements, codec));
}

}  // namespace banyan
