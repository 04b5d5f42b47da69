// `banyan stop`, `banyan remove` and `banyan veto`: the end of a job, of one node's part in it, and of low-bit rounds.
#ifndef BANYAN_TOOLS_STOP_COMMAND_H_
#define BANYAN_TOOLS_STOP_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `stop`. Returns the exit code: 0 success, 1 failure, 2 usage.
int StopCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// `arguments` come after the word `remove`. Returns the exit code, as StopCommand.
int RemoveCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

// `arguments` come after the word `veto`. Returns the exit code, as StopCommand.
int VetoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_STOP_COMMAND_H_
