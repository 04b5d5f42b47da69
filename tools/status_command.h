// `banyan status`: what a job is doing.
#ifndef BANYAN_TOOLS_STATUS_COMMAND_H_
#define BANYAN_TOOLS_STATUS_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `status`. Returns the exit code: 0 success, 1 failure, 2 usage.
int StatusCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_STATUS_COMMAND_H_
