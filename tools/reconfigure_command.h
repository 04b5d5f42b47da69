// `banyan reconfigure`: another overlay.yaml for a job that runs.
#ifndef BANYAN_TOOLS_RECONFIGURE_COMMAND_H_
#define BANYAN_TOOLS_RECONFIGURE_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `reconfigure`. Returns the exit code: 0 success, 1 failure, 2 usage.
int ReconfigureCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_RECONFIGURE_COMMAND_H_
