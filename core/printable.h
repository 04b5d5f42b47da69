// Texts of others, for terminals and logs. Pure functions.
#ifndef BANYAN_CORE_PRINTABLE_H_
#define BANYAN_CORE_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

// Returns how many bytes the character has that `text` begins with, and sets its code `point`. 0: it begins with none,
// but with the end or a byte that is no UTF-8.
size_t Utf8Bytes(absl::string_view text, uint32_t& point);

// Returns how many bytes the printable character has that `text` begins with. 0: it begins with none, but with the end,
// a control character, a byte that is no UTF-8, or a mark that turns the direction of writing, behind which the rest of
// a line can look like another text.
size_t PrintableBytes(absl::string_view text);

// Returns `text` with \xNN in place of each byte that is not part of a printable character.
std::string EscapeUnprintable(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_CORE_PRINTABLE_H_
