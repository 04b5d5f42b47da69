#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "topology/overlay/text/yaml_text.h"

namespace banyan {
namespace {

constexpr char kIpv6Hint[] = "put quotes around an IPv6 address, as in \"tcp://[::1]:7700\"";

// A character that looks like another one, which was meant.
struct Lookalike {
  char32_t first;
  char32_t last;
  const char* what;
  const char* advice;
  bool only_in_front;  // of a word; elsewhere it is text
};

constexpr Lookalike kLookalikes[] = {
    {0xa0, 0xa0, "a no-break space", "put an ordinary space here", false},
    {0x2000, 0x200a, "a space of another width", "put an ordinary space here", false},
    {0x202f, 0x202f, "a no-break space", "put an ordinary space here", false},
    {0x205f, 0x205f, "a space of another width", "put an ordinary space here", false},
    {0x3000, 0x3000, "a wide space", "put an ordinary space here", false},
    {0x200b, 0x200f, "an invisible character", "delete it", false},
    {0x2028, 0x202e, "an invisible character", "delete it", false},
    {0x2060, 0x2064, "an invisible character", "delete it", false},
    {0xfeff, 0xfeff, "an invisible character", "delete it", false},
    {0xff1a, 0xff1a, "a wide colon", "put ': ' here", false},
    {0xff0c, 0xff0c, "a wide comma", "put ', ' here", false},
    {0xff3b, 0xff3b, "a wide bracket", "put '[' here", false},
    {0xff3d, 0xff3d, "a wide bracket", "put ']' here", false},
    {0xff5b, 0xff5b, "a wide bracket", "put '{' here", false},
    {0xff5d, 0xff5d, "a wide bracket", "put '}' here", false},
    {0x2018, 0x201f, "a typographic quote", "use ' or \"", true},
    {0x2010, 0x2015, "a dash that is no hyphen", "put '-' here", true},
    {0x2212, 0x2212, "a minus sign that is no hyphen", "put '-' here", true},
};

const Lookalike* FindLookalike(char32_t code_point, bool in_front) {
  const auto* const found = std::find_if(std::begin(kLookalikes), std::end(kLookalikes), [&](const Lookalike& entry) {
    return entry.first <= code_point && code_point <= entry.last && (in_front || !entry.only_in_front);
  });
  return found == std::end(kLookalikes) ? nullptr : found;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool EndsWord(char c) { return IsBlank(c) || c == '\n' || c == '\0'; }
bool IsFlowMark(char c) { return c == '\0' ? false : absl::string_view(",[]{}").find(c) != absl::string_view::npos; }
char Closing(char open) { return open == '[' ? ']' : '}'; }

class Scan {
 public:
  explicit Scan(absl::string_view text) : text_(text) {}

  YamlScanResult Run() {
    while (at_ < text_.size() && !result_.wrong.has_value()) Step();
    if (!open_.empty()) Suspect(open_.back(), absl::StrCat("this '", Char(open_.back()), "' is never closed"));
    return std::move(result_);
  }

 private:
  struct Place {
    size_t at = 0;
    int line = 1;
    int column = 1;
  };

  std::string Char(const Place& place) const { return std::string(1, text_[place.at]); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Place Here() const { return {at_, line_, column_}; }
  bool InFlow() const { return !open_.empty(); }

  void Wrong(const Place& place, std::string what) {
    if (!result_.wrong.has_value()) result_.wrong = YamlFault{{place.line, place.column}, std::move(what)};
  }
  void Suspect(const Place& place, std::string what) {
    if (!result_.suspect.has_value()) result_.suspect = YamlFault{{place.line, place.column}, std::move(what)};
  }

  // Goes on by one character.
  void Advance() {
    const bool line_ends = Peek() == '\n';
    at_ += std::max<size_t>(1, Utf8Length(text_.substr(at_)));
    ++column_;
    if (!line_ends) return;
    ++line_;
    column_ = 1;
    if (in_quote_) return;
    if (!InFlow()) in_front_ = true;
    StartLine();
  }

  // Looks at the indentation of the line that begins here.
  void StartLine() {
    const size_t indentation = text_.substr(at_).find_first_not_of(" \t");
    if (indentation == absl::string_view::npos) return;
    line_indentation_ = indentation;
    const char first = Peek(indentation);
    if (first == '\n' || first == '#') return;
    CheckMergeMark();
    if (!InFlow()) {
      const size_t tab = text_.substr(at_, indentation).find('\t');
      if (tab == absl::string_view::npos) return;
      Wrong({at_ + tab, line_, column_ + static_cast<int>(tab)}, "a tab indents this line; YAML wants spaces");
    } else if (!opens_file_ && indentation <= open_indentation_ && first != ']' && first != '}') {
      Suspect(open_.back(), absl::StrCat("this '", Char(open_.back()), "' is not closed before line ", line_));
    }
  }

  void CheckMergeMark() {
    const absl::string_view rest = text_.substr(at_);
    if (!absl::StartsWith(rest, "<<<<<<< ") && !absl::StartsWith(rest, ">>>>>>> ")) return;
    Wrong(Here(), "a mark of a merge conflict; keep one of the two versions and delete the marks");
  }

  void Step() {
    if (at_ == 0) StartLine();
    const char c = Peek();
    if (EndsWord(c)) return Advance();
    if (c == '#' && (at_ == 0 || EndsWord(text_[at_ - 1]))) return SkipLine();
    if (const auto* found = FindLookalike(CodePoint(text_.substr(at_), Utf8Length(text_.substr(at_))), in_front_)) {
      const char32_t code_point = CodePoint(text_.substr(at_), Utf8Length(text_.substr(at_)));
      return Wrong(Here(), absl::StrCat(found->what, " (", CodePointName(code_point), "); ", found->advice));
    }
    if (in_front_ && (c == '"' || c == '\'')) return SkipQuoted(c);
    if (in_front_ && !InFlow() && (c == '|' || c == '>')) return SkipBlockText();
    if (in_front_ && (c == '&' || c == '*' || c == '!')) return SkipWord();
    if (c == '[' || c == '{') return Open();
    if (InFlow() && (c == ']' || c == '}')) return Close();
    if (c == ']' || c == '}') CloseNothing();
    StepPlain(c);
  }

  // A character of a word, or one of the marks between words.
  void StepPlain(char c) {
    const char next = Peek(1);
    const bool separates = EndsWord(next) || (InFlow() && (IsFlowMark(next) || after_quote_));
    if (c == ':' && separates) {
      in_front_ = true;
    } else if (InFlow() && c == ',') {
      in_front_ = true;
    } else if (!((c == '-' || c == '?') && EndsWord(next) && in_front_)) {
      in_front_ = false;
    }
    after_quote_ = false;
    Advance();
  }

  void SkipLine() {
    while (at_ < text_.size() && Peek() != '\n') Advance();
  }

  void SkipWord() {
    while (!EndsWord(Peek()) && !IsFlowMark(Peek())) Advance();
  }

  void SkipQuoted(char quote) {
    const Place start = Here();
    in_quote_ = true;
    Advance();
    while (at_ < text_.size() && Peek() != quote) SkipQuotedCharacter(quote);
    // Two single quotes stand for one.
    while (quote == '\'' && Peek() == quote && Peek(1) == quote) {
      Advance();
      Advance();
      while (at_ < text_.size() && Peek() != quote) Advance();
    }
    if (at_ >= text_.size()) return Wrong(start, "the quote that opens here is never closed");
    Advance();
    in_quote_ = false;
    in_front_ = false;
    after_quote_ = true;
    if (EndsWord(Peek()) || Peek() == ':' || IsFlowMark(Peek())) return;
    // It closed at what was meant to open another one.
    if (line_ > start.line) return Suspect(start, "the quote that opens here is not closed in its line");
    Suspect(Here(), absl::StrCat("text right after the closing ", std::string(1, quote),
                                 quote == '\'' ? "; inside of single quotes write '' for one"
                                               : "; inside of double quotes write \\\" for one"));
  }

  void SkipQuotedCharacter(char quote) {
    if (quote == '"' && Peek() == '\\') Advance();
    Advance();
  }

  // Text after | or >: all lines that are indented further than this one.
  void SkipBlockText() {
    const size_t indentation = line_indentation_;
    SkipLine();
    while (at_ < text_.size()) {
      const size_t next = text_.substr(at_ + 1).find_first_not_of(' ');
      if (next == absl::string_view::npos) break;
      if (text_[at_ + 1 + next] != '\n' && next <= indentation) break;
      at_ += 1 + next;
      column_ = static_cast<int>(next) + 1;
      ++line_;
      SkipLine();
    }
  }

  void Open() {
    if (!in_front_ && !InFlow()) {
      Advance();  // plain text between words of a block may have brackets
      return;
    }
    if (!in_front_) {
      const bool in_word = at_ > 0 && !EndsWord(text_[at_ - 1]) && !IsFlowMark(text_[at_ - 1]);
      Suspect(Here(), in_word ? absl::StrCat("'", Char(Here()), "' in the middle of a word; ", kIpv6Hint)
                              : absl::StrCat("a ',' or a closing bracket is missing before this '", Char(Here()), "'"));
    }
    if (!InFlow()) {
      open_indentation_ = line_indentation_;
      opens_file_ = text_.substr(0, at_).find_first_not_of(" \n") == absl::string_view::npos;
    }
    open_.push_back(Here());
    Advance();
    in_front_ = true;
  }

  void Close() {
    const Place opened = open_.back();
    if (Closing(text_[opened.at]) != Peek()) {
      Suspect(Here(),
              absl::StrCat("expected '", std::string(1, Closing(text_[opened.at])), "' for the '", Char(opened),
                           "' in line ", opened.line, ", column ", opened.column, ", got '", Char(Here()), "'"));
    }
    open_.pop_back();
    Advance();
    in_front_ = false;
    after_quote_ = true;
    if (InFlow() || EndsWord(Peek()) || Peek() == ']' || Peek() == '}') return;
    if (Peek() == ':' && EndsWord(Peek(1))) return;
    Suspect(Here(), absl::StrCat("text right after a closing bracket; ", kIpv6Hint));
  }

  void CloseNothing() {
    if (at_ > 0 && !EndsWord(text_[at_ - 1]) && !IsFlowMark(text_[at_ - 1])) return;
    Suspect(Here(), absl::StrCat("this '", Char(Here()), "' closes nothing; delete it"));
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool in_front_ = true;  // a word may begin here
  bool in_quote_ = false;
  bool after_quote_ = false;  // a ':' here needs no space
  size_t line_indentation_ = 0;
  std::vector<Place> open_;  // brackets
  size_t open_indentation_ = 0;
  bool opens_file_ = false;  // the outermost open bracket is the first of all, as in JSON
  YamlScanResult result_;
};

}  // namespace

YamlScanResult ScanYaml(absl::string_view text) { return Scan(text).Run(); }

}  // namespace banyan
