// `banyan scheduler`: the scheduler daemon.
#ifndef BANYAN_TOOLS_SCHEDULER_COMMAND_H_
#define BANYAN_TOOLS_SCHEDULER_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Runs until SIGTERM or Ctrl-C. `arguments` come after the word `scheduler`. Returns the exit code: 0 success, 1
// failure, 2 usage.
int SchedulerCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SCHEDULER_COMMAND_H_
