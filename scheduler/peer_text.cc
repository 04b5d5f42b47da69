#include "scheduler/peer_text.h"

#include "absl/strings/string_view.h"
#include "core/printable.h"

namespace banyan {

bool IsPrintable(const std::string& text) {
  absl::string_view left = text;
  while (!left.empty()) {
    const size_t bytes = PrintableBytes(left);
    if (bytes == 0) return false;
    left.remove_prefix(bytes);
  }
  return true;
}

std::string PrintableText(const std::string& text, size_t limit_bytes) {
  std::string result;
  for (absl::string_view left = text; !left.empty();) {
    const size_t bytes = PrintableBytes(left);
    const absl::string_view character = bytes == 0 ? "?" : left.substr(0, bytes);
    if (result.size() + character.size() > limit_bytes) return result + "...";
    result.append(character.data(), character.size());
    left.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace banyan
