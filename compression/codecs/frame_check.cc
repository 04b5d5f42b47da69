#include "compression/codecs/frame_check.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"

namespace banyan {

absl::Status CheckFrameRange(absl::string_view codec, const FrameHeader& header, int64_t chunk_elements, int levels) {
  if (header.level < 0 || header.level >= levels) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected a level from 0 to %d of %s, got %d", levels - 1, codec, header.level));
  }
  const bool is_inside = header.first_element >= 0 && header.elements >= 0 && header.first_element <= chunk_elements &&
                         header.elements <= chunk_elements - header.first_element;
  if (is_inside) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("expected frames of %s inside a chunk of %d elements, got %d elements from %d", codec,
                      chunk_elements, header.elements, header.first_element));
}

absl::Status CheckFrameBytes(absl::string_view codec, const FrameHeader& header, const Buffer& frame,
                             int64_t expected_bytes) {
  if (frame.size_bytes() == expected_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat("expected %d bytes for %d elements in %s, got %d", expected_bytes,
                                                    header.elements, codec, frame.size_bytes()));
}

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
