#include "scheduler/peer_text.h"

#include <cstdint>

namespace banyan {
namespace {

// How many bytes the printable character at `position` takes; 0 when there is none. Refuses overlong forms, surrogates
// and what lies beyond U+10FFFF.
size_t CharacterBytes(const std::string& text, size_t position) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(i < text.size() ? text[i] : 0); };
  const uint8_t first = byte(position);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(position + i) & 0xc0) != 0x80) return 0;
  }
  const uint8_t second = byte(position + 1);
  const bool is_overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return is_overlong || is_beyond ? 0 : length;
}

}  // namespace

bool IsPrintable(const std::string& text) {
  for (size_t position = 0; position < text.size();) {
    const size_t length = CharacterBytes(text, position);
    if (length == 0) return false;
    position += length;
  }
  return true;
}

std::string PrintableText(const std::string& text, size_t limit_bytes) {
  std::string result;
  for (size_t position = 0; position < text.size();) {
    const size_t length = CharacterBytes(text, position);
    const std::string character = length == 0 ? "?" : text.substr(position, length);
    if (result.size() + character.size() > limit_bytes) return result + "...";
    result += character;
    position += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace banyan
