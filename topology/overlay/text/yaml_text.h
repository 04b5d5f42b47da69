// A YAML text as a user sees it, before and after a parser does: users read of their own characters instead of a
// parser's states. Pure functions.
#ifndef BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_TEXT_H_
#define BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Where something stands in a text file.
struct FilePlace {
  int line = 1;  // both from 1
  int column = 1;
};

// A place in a text that is wrong; columns are characters, not bytes.
struct YamlFault {
  FilePlace place;
  std::string what;  // what is wrong and what to do
};

// Tells columns of characters where a parser counts bytes. Asked for places in rising order it reads the text once.
// Thread-compatible.
class CharacterColumns {
 public:
  // Of `text`, in UTF-8, which outlives this.
  explicit CharacterColumns(absl::string_view text) : text_(text) {}

  // Returns the place of the byte in `line` and `column`, both from 1; one beyond its line's end is at that end.
  FilePlace Of(int line, int column);

 private:
  absl::string_view text_;
  size_t at_ = 0;         // the place that was told last: its byte,
  FilePlace place_;       // its characters
  int column_bytes_ = 1;  // and its column in bytes
};

// The fault as an error: INVALID_ARGUMENT "file:line:column: what".
absl::Status ToStatus(const YamlFault& fault, absl::string_view file_name);

// Returns `text` in UTF-8 without a byte order mark, its lines ended by "\n" alone. INVALID_ARGUMENT
// "file:line:column: .." for another encoding and for control characters.
absl::StatusOr<std::string> PlainYamlText(absl::string_view text, absl::string_view file_name);

// Returns how many bytes the UTF-8 character at the front of `text` has; 0 when there is none.
size_t Utf8Length(absl::string_view text);

// Returns the code point of the first `length` bytes of `text`. REQUIRES: they are one UTF-8 character.
char32_t CodePoint(absl::string_view text, size_t length);

// "U+00A0".
std::string CodePointName(char32_t code_point);

// ---- before a parser ----

struct YamlScanResult {
  // Wrong in any YAML, or not what anybody meant: a tab that indents, a quote that never ends, a no-break space.
  std::optional<YamlFault> wrong;
  // The reason when a parser refuses the text: brackets that do not match, or that stand in the middle of a word.
  std::optional<YamlFault> suspect;
};

// Reads the punctuation of a text from PlainYamlText: quotes, brackets, spaces that only look like spaces. What a
// parser calls an unexpected token is here the bracket that was never closed. Finds the first fault of each sort.
YamlScanResult ScanYaml(absl::string_view text);

// ---- after it ----

// Returns in Banyan's own words what is wrong at `place` of `text`, and what to do. `theirs` is yaml-cpp's message,
// which only chooses among the advices.
std::string YamlAdvice(absl::string_view text, FilePlace place, absl::string_view theirs);

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_OVERLAY_TEXT_YAML_TEXT_H_
