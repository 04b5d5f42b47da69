// `banyan node`: the node daemon.
#ifndef BANYAN_TOOLS_NODE_COMMAND_H_
#define BANYAN_TOOLS_NODE_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Runs until SIGTERM, Ctrl-C, or the end of its job. `arguments` come after the word `node`. Returns the exit code: 0
// success, 1 failure, 2 usage.
int NodeCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_NODE_COMMAND_H_
