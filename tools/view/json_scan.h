// Reads through a text of JSON without keeping it, for texts that are passed on as they are. Pure function.
#ifndef BANYAN_TOOLS_VIEW_JSON_SCAN_H_
#define BANYAN_TOOLS_VIEW_JSON_SCAN_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace banyan {

// Told each number of an object's member: `number` is a part of the text, `name` the member's, and `around` the name of
// the member whose object this is, empty in the outermost one. Names are as written, with their escapes.
using OnNumber = std::function<void(absl::string_view around, absl::string_view name, absl::string_view number)>;

// Returns INVALID_ARGUMENT, with what was expected, what came and at which byte, unless `text` is one value of JSON
// (RFC 8259) on one line, nested at most 64 deep.
absl::Status ScanJson(absl::string_view text, const OnNumber& on_number = nullptr);

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_JSON_SCAN_H_
