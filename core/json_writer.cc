#include "core/json_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/printable.h"

namespace banyan {

JsonWriter& JsonWriter::Name(const std::string& name) {
  Separate();
  Quote(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(const std::string& text) {
  Separate();
  Quote(text);
  return *this;
}

JsonWriter& JsonWriter::Integer(uint64_t value) {
  Separate();
  absl::StrAppend(&text_, value);
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  absl::StrAppendFormat(&text_, "%.10g", value);
  return *this;
}

JsonWriter& JsonWriter::Boolean(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

void JsonWriter::Separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::Quote(absl::string_view text) {
  text_ += '"';
  while (!text.empty()) {
    uint32_t point = 0;
    const size_t bytes = Utf8Bytes(text, point);
    if (bytes == 0) {
      text_ += "\xef\xbf\xbd";
    } else if (point < 0x20) {
      absl::StrAppendFormat(&text_, "\\u%04x", point);
    } else {
      if (point == '"' || point == '\\') text_ += '\\';
      text_.append(text.data(), bytes);
    }
    text.remove_prefix(std::max(bytes, size_t{1}));
  }
  text_ += '"';
}

}  // namespace banyan
