// `banyan keygen`: secret keys, and the lines of the overlay that list them.
#ifndef BANYAN_TOOLS_KEYGEN_KEYGEN_COMMAND_H_
#define BANYAN_TOOLS_KEYGEN_KEYGEN_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `keygen`. Returns the exit code: 0 success, 1 where a file cannot be read or written,
// 2 usage.
int KeygenCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_KEYGEN_KEYGEN_COMMAND_H_
