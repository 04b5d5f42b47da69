#include "core/printable.h"

#include "absl/strings/str_format.h"

namespace banyan {
namespace {

bool TurnsDirection(uint32_t point) {
  return point == 0x61c || point == 0x200e || point == 0x200f || (point >= 0x202a && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

size_t Utf8Bytes(absl::string_view text, uint32_t& point) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  point = first;
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
  point = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    point = point << 6 | (next & 0x3fu);
  }
  const uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < least || point > 0x10ffff || is_surrogate ? 0 : bytes;
}

size_t PrintableBytes(absl::string_view text) {
  uint32_t point = 0;
  const size_t bytes = Utf8Bytes(text, point);
  const bool is_control = point < 0x20 || (point >= 0x7f && point < 0xa0);
  const bool is_line_end = point == 0x2028 || point == 0x2029;
  return is_control || is_line_end || TurnsDirection(point) ? 0 : bytes;
}

std::string EscapeUnprintable(absl::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t bytes = PrintableBytes(text);
    if (bytes > 0) {
      line.append(text.data(), bytes);
    } else {
      absl::StrAppendFormat(&line, "\\x%02x", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return line;
}

}  // namespace banyan
