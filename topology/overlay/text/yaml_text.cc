#include "topology/overlay/text/yaml_text.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace banyan {
namespace {

constexpr absl::string_view kUtf8Mark = "\xef\xbb\xbf";

// The byte order marks of other encodings; UTF-32's little-endian one starts as that of UTF-16.
bool HasForeignMark(absl::string_view text) {
  return absl::StartsWith(text, "\xff\xfe") || absl::StartsWith(text, "\xfe\xff") ||
         absl::StartsWith(text, absl::string_view("\0\0\xfe\xff", 4));
}

std::string WithPlainLineEnds(absl::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      plain.push_back(text[i]);
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      plain.push_back('\n');
    }
  }
  return plain;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// What is wrong with the character at the front of `rest`, of `length` bytes; nothing for most of them.
std::optional<std::string> CharacterFault(absl::string_view rest, size_t length) {
  const auto first = static_cast<unsigned char>(rest.front());
  if (length == 0) {
    return absl::StrCat("the byte ", absl::StrFormat("0x%02x", first), " is not UTF-8; save the file as UTF-8");
  }
  if (first == 0) return "a zero byte; is this a text file? Save it as UTF-8";
  if ((first < 0x20 && first != '\t' && first != '\n') || first == 0x7f) {
    return absl::StrCat("the control character ", CodePointName(first), "; delete it");
  }
  return std::nullopt;
}

std::optional<YamlFault> FindCharacterFault(absl::string_view text) {
  int line = 1;
  int column = 1;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (std::optional<std::string> what = CharacterFault(text, length); what.has_value()) {
      return YamlFault{{line, column}, *std::move(what)};
    }
    ++column;
    if (text.front() == '\n') {
      ++line;
      column = 1;
    }
    text.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace

FilePlace CharacterColumns::Of(int line, int column) {
  const bool is_before = line < place_.line || (line == place_.line && column < column_bytes_);
  if (is_before) *this = CharacterColumns(text_);
  while (at_ < text_.size() && (place_.line < line || (place_.line == line && column_bytes_ < column))) {
    const bool is_end = text_[at_] == '\n';
    if (is_end && place_.line == line) break;
    ++at_;
    if (is_end) {
      place_ = {place_.line + 1, 1};
      column_bytes_ = 1;
    } else {
      ++column_bytes_;
      if (at_ >= text_.size() || !IsContinuation(text_[at_])) ++place_.column;
    }
  }
  return place_;
}

absl::Status ToStatus(const YamlFault& fault, absl::string_view file_name) {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ":", fault.place.line, ":", fault.place.column, ": ", fault.what));
}

absl::StatusOr<std::string> PlainYamlText(absl::string_view text, absl::string_view file_name) {
  if (HasForeignMark(text)) return ToStatus({{}, "the file is UTF-16 or UTF-32; save it as UTF-8"}, file_name);
  absl::ConsumePrefix(&text, kUtf8Mark);
  std::string plain = WithPlainLineEnds(text);
  if (const std::optional<YamlFault> fault = FindCharacterFault(plain)) return ToStatus(*fault, file_name);
  return plain;
}

size_t Utf8Length(absl::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  return length;
}

char32_t CodePoint(absl::string_view text, size_t length) {
  const auto first = static_cast<unsigned char>(text.front());
  char32_t code_point = length == 1 ? first : first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return code_point;
}

std::string CodePointName(char32_t code_point) { return absl::StrFormat("U+%04X", static_cast<uint32_t>(code_point)); }

}  // namespace banyan
