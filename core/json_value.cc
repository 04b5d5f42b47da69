#include "core/json_value.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kJsonBytesShown = 12;

void AppendUtf8(uint32_t code, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

uint32_t HexOf(absl::string_view digits) {
  uint32_t code = 0;
  for (const char digit : digits) {
    code = 16 * code + static_cast<uint32_t>(absl::ascii_isdigit(static_cast<unsigned char>(digit))
                                                 ? digit - '0'
                                                 : absl::ascii_tolower(static_cast<unsigned char>(digit)) - 'a' + 10);
  }
  return code;
}

// Takes the four digits of a \u off `rest`, and those of a second one that completes a pair.
uint32_t TakeCode(absl::string_view& rest) {
  uint32_t code = HexOf(rest.substr(0, 4));
  rest.remove_prefix(4);
  const bool is_first_half = code >= 0xd800 && code < 0xdc00;
  const bool is_half = code >= 0xd800 && code < 0xe000;
  if (is_first_half && absl::StartsWith(rest, "\\u")) {
    const uint32_t second = HexOf(rest.substr(2, 4));
    if (second >= 0xdc00 && second < 0xe000) {
      rest.remove_prefix(6);
      return 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    }
  }
  return is_half ? 0xfffd : code;
}

// Of what stands between the quotes of a well-formed string.
std::string Unescaped(absl::string_view rest) {
  std::string text;
  while (!rest.empty()) {
    const size_t plain = std::min(rest.find('\\'), rest.size());
    text.append(rest.data(), plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const char escape = rest[1];
    rest.remove_prefix(2);
    if (escape == 'u') {
      AppendUtf8(TakeCode(rest), text);
      continue;
    }
    constexpr absl::string_view kEscapes = "bfnrt";
    const size_t which = kEscapes.find(escape);
    text += which == absl::string_view::npos ? escape : "\b\f\n\r\t"[which];
  }
  return text;
}

}  // namespace

class JsonReader {
 public:
  explicit JsonReader(absl::string_view text) : text_(text) {}

  absl::StatusOr<JsonValue> Read() {
    JsonValue value;
    if (Value(value) && (SkipSpace(), at_ == text_.size())) return value;
    if (expected_ == nullptr) expected_ = "the end";
    const absl::string_view rest = text_.substr(at_, kJsonBytesShown);
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", expected_, " at byte ", at_ + 1, " of the JSON, got ",
                     rest.empty() ? "its end" : absl::StrCat("\"", absl::CHexEscape(rest), "\"")));
  }

 private:
  using Kind = JsonValue::Kind;

  bool Fail(const char* expected) {
    if (expected_ == nullptr) expected_ = expected;
    return false;
  }

  bool Value(JsonValue& value) {
    SkipSpace();
    const size_t start = at_;
    if (!Contents(value)) return false;
    value.text_ = text_.substr(start, at_ - start);
    return true;
  }

  bool Contents(JsonValue& value) {
    const char next = Peek();
    if (next == '{') return value.kind_ = Kind::kObject, Nested(&JsonReader::Member, '}', value);
    if (next == '[') return value.kind_ = Kind::kArray, Nested(&JsonReader::Value, ']', value);
    if (next == '"') return value.kind_ = Kind::kString, String();
    if (next == '-' || absl::ascii_isdigit(static_cast<unsigned char>(next))) {
      return value.kind_ = Kind::kNumber, Number();
    }
    value.kind_ = Kind::kBoolean;
    if (Take("true") || Take("false")) return true;
    value.kind_ = Kind::kNull;
    return Take("null") || Fail("a value");
  }

  // `part` reads one of those between commas.
  bool Nested(bool (JsonReader::*part)(JsonValue& value), char end, JsonValue& value) {
    if (++depth_ > kDeepest) return Fail("less deep nesting");
    ++at_;
    SkipSpace();
    for (bool is_first = true; Peek() != end; is_first = false) {
      if (!is_first && !Take(",")) return Fail("a comma or the end of what is open");
      if (!(this->*part)(value.values_.emplace_back())) return false;
      SkipSpace();
    }
    ++at_;
    --depth_;
    return true;
  }

  bool Member(JsonValue& value) {
    SkipSpace();
    const size_t start = at_ + 1;
    if (Peek() != '"') return Fail("a name");
    if (!String()) return false;
    value.name_ = text_.substr(start, at_ - 1 - start);
    SkipSpace();
    if (!Take(":")) return Fail("a colon");
    return Value(value);
  }

  bool String() {
    ++at_;
    while (Peek() != '"') {
      if (static_cast<unsigned char>(Peek()) < ' ') return Fail("the rest of a string");
      if (Take("\\")) {
        if (!Escape()) return Fail("an escape of JSON");
      } else {
        ++at_;
      }
    }
    ++at_;
    return true;
  }

  // What follows a backslash.
  bool Escape() {
    if (!Take("u")) return absl::StrContains("\"\\/bfnrt", Peek()) && (++at_, true);
    for (int i = 0; i < 4; ++i, ++at_) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(Peek()))) return false;
    }
    return true;
  }

  bool Number() {
    Take("-");
    if (!Take("0") && !Digits()) return Fail("a digit");
    if (Take(".") && !Digits()) return Fail("a digit");
    if (Take("e") || Take("E")) {
      if (!Take("+")) Take("-");
      if (!Digits()) return Fail("a digit");
    }
    return true;
  }

  bool Digits() {
    const size_t start = at_;
    while (absl::ascii_isdigit(static_cast<unsigned char>(Peek()))) ++at_;
    return at_ > start;
  }

  // 0 at the end.
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool Take(absl::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++at_;
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  const char* expected_ = nullptr;
};

absl::StatusOr<JsonValue> JsonValue::Parse(absl::string_view text) { return JsonReader(text).Read(); }

const JsonValue& JsonValue::operator[](absl::string_view name) const {
  static const JsonValue kNone;
  if (kind_ != Kind::kObject) return kNone;
  for (const JsonValue& value : values_) {
    if (value.name_ == name) return value;
  }
  return kNone;
}

void JsonValue::Read(bool& value) const {
  if (kind_ != Kind::kBoolean) Refuse("true or false");
  value = text_ == "true";
}

void JsonValue::Read(int64_t& value) const {
  if (kind_ != Kind::kNumber || !absl::SimpleAtoi(text_, &value)) Refuse("a whole number");
}

void JsonValue::Read(uint64_t& value) const {
  if (kind_ != Kind::kNumber || !absl::SimpleAtoi(text_, &value)) Refuse("a whole number from 0 on");
}

void JsonValue::Read(double& value) const {
  if (kind_ != Kind::kNumber || !absl::SimpleAtod(text_, &value)) Refuse("a number");
}

void JsonValue::Read(std::string& value) const {
  if (kind_ != Kind::kString) Refuse("a string");
  value = Unescaped(text_.substr(1, text_.size() - 2));
}

void JsonValue::Refuse(const char* expected) const {
  throw JsonMismatch(absl::StrCat("expected ", expected, name_.empty() ? "" : absl::StrCat(" as ", name_), ", got ",
                                  kind_ == Kind::kMissing ? "nothing" : absl::CHexEscape(text_.substr(0, 40))));
}

}  // namespace banyan
