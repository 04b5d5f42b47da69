#include "tools/terminal/man_page.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/version.h"

namespace banyan {
namespace {

// A line that begins with a dot or an apostrophe would be an order.
std::string Roff(absl::string_view text) {
  std::string lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const bool is_order = !line.empty() && (line.front() == '.' || line.front() == '\'');
    absl::StrAppend(&lines, is_order ? "\\&" : "",
                    absl::StrReplaceAll(line, {{"\\", "\\e"}, {"-", "\\-"}, {"~", "\\(ti"}, {"^", "\\(ha"}}), "\n");
  }
  return lines;
}

}  // namespace

ManPage::ManPage(absl::string_view name, int section, absl::string_view summary)
    : text_(absl::StrCat(".TH ", Roff(absl::AsciiStrToUpper(name)))) {
  text_.pop_back();
  absl::StrAppend(&text_, " ", section, " \"\" \"Banyan ", kVersion, "\" \"Banyan\"\n.SH NAME\n",
                  Roff(absl::StrCat(name, " - ", summary)));
}

ManPage& ManPage::Section(absl::string_view heading) {
  absl::StrAppend(&text_, ".SH ", Roff(heading));
  return *this;
}

ManPage& ManPage::Text(absl::string_view text) {
  const bool is_first =
      absl::StartsWith(absl::string_view(text_).substr(text_.rfind('\n', text_.size() - 2) + 1), ".SH");
  absl::StrAppend(&text_, is_first ? "" : ".PP\n", Roff(text));
  return *this;
}

ManPage& ManPage::Row(absl::string_view term, absl::string_view meaning) {
  absl::StrAppend(&text_, ".TP\n.B ", Roff(term), Roff(meaning));
  return *this;
}

ManPage& ManPage::Verbatim(absl::string_view lines) {
  absl::StrAppend(&text_, ".PP\n.nf\n", Roff(lines), ".fi\n");
  return *this;
}

}  // namespace banyan
