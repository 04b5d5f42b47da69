#include "tests/tidy/declarations.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <utility>

#include "tests/tidy/code_text.h"
#include "tests/tidy/source_file.h"

namespace banyan {
namespace {

using Tokens = std::vector<std::string>;

bool IsName(const std::string& token) { return std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_'; }

// Tokens of the whole text, those of preprocessor lines left out.
std::vector<Word> Tokenize(const std::string& text) {
  static const std::regex kToken(R"(\w+|::|[^\s\w])");
  std::vector<Word> tokens;
  int number = 0;
  bool preprocessor = false;
  for (const std::string& line : Lines(BlankCommentsAndLiterals(text))) {
    ++number;
    const size_t first = line.find_first_not_of(' ');
    preprocessor = preprocessor || (first != std::string::npos && line[first] == '#');
    if (!preprocessor) {
      for (std::sregex_iterator it(line.begin(), line.end(), kToken), end; it != end; ++it) {
        tokens.push_back({number, it->str()});
      }
    }
    preprocessor = preprocessor && line.ends_with("\\");
  }
  return tokens;
}

// Walks over the tokens of a text and keeps in mind what is open.
class Walk {
 public:
  std::vector<Declaration> Run(const std::vector<Word>& tokens) {
    for (const Word& token : tokens) Step(token);
    return std::move(declarations_);
  }

 private:
  struct Scope {
    bool is_namespace = false;
    bool anonymous = false;
    std::string name;
  };

  bool AtNamespaceLevel() const { return scopes_.empty() || scopes_.back().is_namespace; }

  void Step(const Word& token) {
    if (token.text == "{") {
      Open();
    } else if (token.text == "}") {
      if (!scopes_.empty()) scopes_.pop_back();
      if (AtNamespaceLevel() && parentheses_ == 0) current_ = {};
    } else if (AtNamespaceLevel()) {
      if (token.text == "(") ++parentheses_;
      if (token.text == ")") --parentheses_;
      if (token.text == ";" && parentheses_ == 0) return Emit(false);
      if (current_.tokens.empty()) current_.line = token.line;
      current_.tokens.push_back(token.text);
    }
  }

  void Open() {
    if (!AtNamespaceLevel() || parentheses_ > 0) {
      scopes_.push_back({});
    } else if (IsNamespace()) {
      scopes_.push_back(NamespaceScope());
      current_ = {};
    } else {
      Emit(true);
      scopes_.push_back({});
    }
  }

  // `extern "C"` groups declarations as a namespace does.
  bool IsNamespace() const {
    const Tokens& tokens = current_.tokens;
    return tokens == Tokens{"extern"} || std::find(tokens.begin(), tokens.end(), "namespace") != tokens.end();
  }

  Scope NamespaceScope() const {
    Scope scope = {.is_namespace = true, .anonymous = current_.tokens.back() == "namespace", .name = ""};
    for (const std::string& token : current_.tokens) {
      if (token != "inline" && token != "namespace" && token != "extern") scope.name += token;
    }
    return scope;
  }

  void Emit(bool has_body) {
    current_.has_body = has_body;
    for (const Scope& scope : scopes_) {
      current_.anonymous = current_.anonymous || scope.anonymous;
      if (!scope.name.empty()) current_.scope += (current_.scope.empty() ? "" : "::") + scope.name;
    }
    if (!current_.tokens.empty()) declarations_.push_back(std::move(current_));
    current_ = {};
  }

  std::vector<Declaration> declarations_;
  std::vector<Scope> scopes_;
  Declaration current_;
  int parentheses_ = 0;
};

// Returns the place after the bracket that closes the one at `at`.
size_t AfterBrackets(const Tokens& tokens, size_t at, const std::string& open, const std::string& close) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    if (tokens[at] == open) ++depth;
    if (tokens[at] == close && --depth == 0) return at + 1;
  }
  return at;
}

size_t AfterTemplateHeads(const Tokens& tokens) {
  size_t at = 0;
  while (at < tokens.size() && tokens[at] == "template") at = AfterBrackets(tokens, at + 1, "<", ">");
  return at;
}

// Returns the place after attributes: [[...]], alignas(...), __attribute__((...)).
size_t AfterAttributes(const Tokens& tokens, size_t at) {
  while (at < tokens.size()) {
    if (tokens[at] == "[") {
      at = AfterBrackets(tokens, at, "[", "]");
    } else if (tokens[at] == "alignas" || tokens[at] == "__attribute__") {
      at = AfterBrackets(tokens, at + 1, "(", ")");
    } else {
      break;
    }
  }
  return at;
}

bool IsTypeKeyword(const std::string& token) {
  return token == "class" || token == "struct" || token == "union" || token == "enum";
}

}  // namespace

std::vector<Declaration> Declarations(const std::string& text) { return Walk().Run(Tokenize(text)); }

std::optional<std::string> DefinedType(const Declaration& declaration) {
  const Tokens& tokens = declaration.tokens;
  size_t at = AfterTemplateHeads(tokens);
  if (at >= tokens.size()) return std::nullopt;
  if (tokens[at] == "using" && !declaration.has_body) {
    const bool alias = at + 2 < tokens.size() && tokens[at + 2] == "=";
    return alias ? std::optional(tokens[at + 1]) : std::nullopt;
  }
  if (!declaration.has_body || !IsTypeKeyword(tokens[at])) return std::nullopt;
  while (at < tokens.size() && IsTypeKeyword(tokens[at])) at = AfterAttributes(tokens, at + 1);
  std::string name;
  for (; at < tokens.size() && tokens[at] != ":"; ++at) {
    if (!IsName(tokens[at])) return std::nullopt;
    if (tokens[at] != "final") name = tokens[at];
  }
  return name.empty() ? std::nullopt : std::optional(name);
}

}  // namespace banyan
