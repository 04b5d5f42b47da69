#include "tests/tidy/code_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>

#include "tests/tidy/source_file.h"

namespace banyan {
namespace {

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Walks over a text and blanks what is no code.
class Blanker {
 public:
  explicit Blanker(const std::string& text) : text_(text), out_(text) {}

  std::string Run() {
    while (at_ < text_.size()) Step();
    return out_;
  }

 private:
  void Step() {
    if (Starts("//")) {
      BlankUntil("\n", 0);
    } else if (Starts("/*")) {
      BlankUntil("*/", 2);
    } else if (text_[at_] == '"') {
      if (at_ > 0 && text_[at_ - 1] == 'R') {
        BlankRaw();
      } else {
        BlankLiteral('"');
      }
    } else if (text_[at_] == '\'' && !(at_ > 0 && IsNameCharacter(text_[at_ - 1]))) {
      BlankLiteral('\'');  // after a digit or letter the mark separates digits
    } else {
      ++at_;
    }
  }

  bool Starts(const char* mark) const { return text_.compare(at_, std::char_traits<char>::length(mark), mark) == 0; }

  // Blanks up to where `end` begins, plus `extra` characters of it.
  void BlankUntil(const std::string& end, size_t extra) {
    size_t stop = text_.find(end, at_ + extra);
    Blank(stop == std::string::npos ? text_.size() : stop + extra);
  }

  void BlankRaw() {
    size_t open = text_.find('(', at_);
    if (open == std::string::npos) return Blank(text_.size());
    std::string end = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    BlankUntil(end, end.size());
  }

  void BlankLiteral(char mark) {
    size_t stop = at_ + 1;
    while (stop < text_.size() && text_[stop] != mark && text_[stop] != '\n') stop += text_[stop] == '\\' ? 2 : 1;
    Blank(std::min(stop + 1, text_.size()));
  }

  void Blank(size_t stop) {
    for (; at_ < stop; ++at_) {
      if (out_[at_] != '\n') out_[at_] = ' ';
    }
  }

  const std::string& text_;
  std::string out_;
  size_t at_ = 0;
};

}  // namespace

std::string BlankCommentsAndLiterals(const std::string& text) { return Blanker(text).Run(); }

std::vector<Include> Includes(const std::string& text) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  int number = 0;
  for (const std::string& line : Lines(text)) {
    ++number;
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) includes.push_back({number, match[2], match[1] == "\""});
  }
  return includes;
}

std::vector<Word> Words(const std::string& text) {
  static const std::regex kWord(R"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)");
  std::vector<Word> words;
  int number = 0;
  for (const std::string& line : Lines(BlankCommentsAndLiterals(text))) {
    ++number;
    if (line.find("#include") != std::string::npos) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), kWord), end; it != end; ++it) {
      words.push_back({number, it->str()});
    }
  }
  return words;
}

}  // namespace banyan
