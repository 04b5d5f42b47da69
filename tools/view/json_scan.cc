#include "tools/view/json_scan.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kJsonBytesShown = 12;

class Scanner {
 public:
  Scanner(absl::string_view text, const OnNumber& on_number) : text_(text), on_number_(on_number) {}

  absl::Status Scan() {
    if (Value("", "") && (SkipSpace(), at_ == text_.size())) return absl::OkStatus();
    if (expected_ == nullptr) expected_ = "the end";
    const absl::string_view rest = text_.substr(at_, kJsonBytesShown);
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", expected_, " at byte ", at_ + 1, " of the JSON, got ",
                     rest.empty() ? "its end" : absl::StrCat("\"", absl::CHexEscape(rest), "\"")));
  }

 private:
  bool Fail(const char* expected) {
    if (expected_ == nullptr) expected_ = expected;
    return false;
  }

  bool Value(absl::string_view around, absl::string_view name) {
    SkipSpace();
    const char next = Peek();
    if (next == '{') return Nested(&Scanner::Member, '}', name);
    if (next == '[') return Nested(&Scanner::Element, ']', name);
    if (next == '"') return String();
    if (next == '-' || absl::ascii_isdigit(static_cast<unsigned char>(next))) return Number(around, name);
    for (const absl::string_view word : {"true", "false", "null"}) {
      if (Take(word)) return true;
    }
    return Fail("a value");
  }

  // `part` reads one of those between commas.
  bool Nested(bool (Scanner::*part)(absl::string_view name), char end, absl::string_view name) {
    if (++depth_ > kDeepest) return Fail("less deep nesting");
    ++at_;
    SkipSpace();
    for (bool is_first = true; Peek() != end; is_first = false) {
      if (!is_first && !Take(",")) return Fail("a comma or the end of what is open");
      if (!(this->*part)(name)) return false;
      SkipSpace();
    }
    ++at_;
    --depth_;
    return true;
  }

  bool Member(absl::string_view around) {
    SkipSpace();
    const size_t start = at_ + 1;
    if (Peek() != '"') return Fail("a name");
    if (!String()) return false;
    const absl::string_view name = text_.substr(start, at_ - 1 - start);
    SkipSpace();
    if (!Take(":")) return Fail("a colon");
    return Value(around, name);
  }

  bool Element(absl::string_view name) { return Value("", name); }

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

  bool Number(absl::string_view around, absl::string_view name) {
    const size_t start = at_;
    Take("-");
    if (!Take("0") && !Digits()) return Fail("a digit");
    if (Take(".") && !Digits()) return Fail("a digit");
    if (Take("e") || Take("E")) {
      if (!Take("+")) Take("-");
      if (!Digits()) return Fail("a digit");
    }
    if (on_number_ && !name.empty()) on_number_(around, name, text_.substr(start, at_ - start));
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
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }

  const absl::string_view text_;
  const OnNumber& on_number_;
  size_t at_ = 0;
  int depth_ = 0;
  const char* expected_ = nullptr;
};

}  // namespace

absl::Status ScanJson(absl::string_view text, const OnNumber& on_number) { return Scanner(text, on_number).Scan(); }

}  // namespace banyan
