// Texts for a terminal of 80 columns. Pure functions.
#ifndef BANYAN_TOOLS_TERMINAL_HELP_TEXT_H_
#define BANYAN_TOOLS_TERMINAL_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace banyan {

// Says which Banyan this is: "banyan 0.1.0 (protocol 7)" and a line's end: the release, and what its processes speak
// with each other.
std::string VersionText();

inline constexpr size_t kHelpColumns = 80;

// `words` with single spaces between, in lines that start with `indentation` spaces but for the first, which starts
// after `used` columns. No word is broken.
std::string Wrap(const std::vector<std::string>& words, size_t used, size_t indentation);
// The same with the words of `text`, whatever spaces and line ends it has.
std::string Wrap(absl::string_view text, size_t used, size_t indentation);

// One row for each flag or command and what it does, in two columns. Ends with a line end.
std::string HelpTable(const std::vector<std::pair<std::string, std::string>>& rows);

// An example's command line, which goes on with a backslash before a flag where it is too long.
std::string WrapExample(absl::string_view example, size_t used);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_HELP_TEXT_H_
