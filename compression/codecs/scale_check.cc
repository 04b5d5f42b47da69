#include "compression/codecs/scale_check.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"

namespace banyan {

absl::Status CheckScales(absl::string_view codec, const uint8_t* scales, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float scale;
    std::memcpy(&scale, scales + i * static_cast<int64_t>(sizeof(scale)), sizeof(scale));
    const bool is_good = std::isnan(scale) || (std::isfinite(scale) && !std::signbit(scale));
    if (!is_good) {
      return absl::InvalidArgumentError(
          absl::StrFormat("expected finite scales from 0 on in %s, got %g for block %d", codec, scale, i));
    }
  }
  return absl::OkStatus();
}

}  // namespace banyan
