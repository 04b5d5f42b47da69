#include "scheduler/peer_text.h"

#include <cstdint>

#include "absl/strings/string_view.h"

namespace banyan {
namespace {

// Whether the character of these bytes turns the direction of writing: behind it the rest of a line can look like
// another text.
bool TurnsDirection(absl::string_view character) {
  const bool is_arabic_mark = character == "\xd8\x9c";
  if (character.size() != 3 || character[0] != '\xe2') return is_arabic_mark;
  const auto last = static_cast<uint8_t>(character[2]);
  if (character[1] == '\x81') return last >= 0xa6 && last <= 0xa9;
  return character[1] == '\x80' && (last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae));
}

// How many bytes the printable character at `position` takes; 0 when there is none. Refuses overlong forms, surrogates,
// what lies beyond U+10FFFF, and marks that turn the direction of writing.
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
  const bool is_control = first == 0xc2 && second < 0xa0;
  const bool turns = TurnsDirection(absl::string_view(text).substr(position, length));
  return is_overlong || is_beyond || is_control || turns ? 0 : length;
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
