#include "tools/terminal/help_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/version.h"
#include "proto/peer_messages.h"

namespace banyan {
namespace {

constexpr size_t kMargin = 2;
// A longer name has a line of its own.
constexpr size_t kWidestName = 24;

}  // namespace

std::string VersionText() { return absl::StrCat("banyan ", kVersion, " (protocol ", kProtocolVersion, ")\n"); }

std::string Wrap(const std::vector<std::string>& words, size_t used, size_t indentation) {
  std::string text;
  bool is_first = true;
  for (const std::string& word : words) {
    if (!is_first && used + 1 + word.size() > kHelpColumns) {
      absl::StrAppend(&text, "\n", std::string(indentation, ' '));
      used = indentation;
    } else if (!is_first) {
      text += ' ';
      ++used;
    }
    text += word;
    used += word.size();
    is_first = false;
  }
  return text;
}

std::string Wrap(absl::string_view text, size_t used, size_t indentation) {
  return Wrap(absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty()), used, indentation);
}

std::string HelpTable(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t width = 0;
  for (const auto& [name, what] : rows) {
    if (name.size() <= kWidestName) width = std::max(width, name.size());
  }
  const size_t column = kMargin + width + kMargin;
  std::string text;
  for (const auto& [name, what] : rows) {
    absl::StrAppend(&text, std::string(kMargin, ' '), name);
    absl::StrAppend(&text, name.size() > width ? absl::StrCat("\n", std::string(column, ' '))
                                               : std::string(column - kMargin - name.size(), ' '));
    absl::StrAppend(&text, Wrap(what, column, column), "\n");
  }
  return text;
}

std::string WrapExample(absl::string_view example, size_t used) {
  constexpr absl::string_view kGoesOn = " \\\n    ";
  std::string text;
  for (const absl::string_view part : absl::StrSplit(example, " --")) {
    const std::string word = text.empty() ? std::string(part) : absl::StrCat(" --", part);
    if (!text.empty() && used + word.size() + 2 > kHelpColumns) {
      absl::StrAppend(&text, kGoesOn, word.substr(1));
      used = kGoesOn.size() - 3 + word.size() - 1;
    } else {
      text += word;
      used += word.size();
    }
  }
  return text;
}

}  // namespace banyan
