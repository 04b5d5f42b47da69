// Writes JSON text piece by piece, with commas and escapes. The caller keeps the nesting right. Thread-compatible.
#ifndef BANYAN_CORE_JSON_WRITER_H_
#define BANYAN_CORE_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  // The name of the next value.
  JsonWriter& Name(const std::string& name);
  // Each byte of `text` that is no UTF-8 becomes U+FFFD.
  JsonWriter& String(const std::string& text);
  JsonWriter& Integer(uint64_t value);
  // null when it is not finite.
  JsonWriter& Number(double value);
  JsonWriter& Boolean(bool value);
  JsonWriter& Null();

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();
  void Quote(absl::string_view text);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace banyan

#endif  // BANYAN_CORE_JSON_WRITER_H_
