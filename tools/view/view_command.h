// `banyan view`: the page of a job, fed from a recording.
#ifndef BANYAN_TOOLS_VIEW_VIEW_COMMAND_H_
#define BANYAN_TOOLS_VIEW_VIEW_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Serves the page until Ctrl-C. Returns the exit code.
int ViewCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_VIEW_COMMAND_H_
