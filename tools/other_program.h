// Goes over to another program of Banyan's, for commands whose libraries the command `banyan` does without.
#ifndef BANYAN_TOOLS_OTHER_PROGRAM_H_
#define BANYAN_TOOLS_OTHER_PROGRAM_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Becomes the program at `path`, from where this one was built or installed, with `arguments`. Comes back only where
// that does not work: says why to `err`, for `command`, and returns the exit code.
int BecomeProgram(const std::string& path, const std::string& command, absl::Span<const std::string> arguments,
                  std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_OTHER_PROGRAM_H_
