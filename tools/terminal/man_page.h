// A manual page, as groff and mandoc read it. Thread-compatible; made by whoever prints it.
#ifndef BANYAN_TOOLS_TERMINAL_MAN_PAGE_H_
#define BANYAN_TOOLS_TERMINAL_MAN_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// Texts are plain; what has a meaning to roff is shown as it is.
class ManPage {
 public:
  // The page NAME(SECTION), with `summary` beside the name.
  ManPage(absl::string_view name, int section, absl::string_view summary);

  // Begins a section, such as "OPTIONS".
  ManPage& Section(absl::string_view heading);
  // A paragraph.
  ManPage& Text(absl::string_view text);
  // A term in bold letters, and what it means.
  ManPage& Row(absl::string_view term, absl::string_view meaning);
  // Lines that are kept as they are.
  ManPage& Verbatim(absl::string_view lines);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_MAN_PAGE_H_
