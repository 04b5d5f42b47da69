// `banyan scheduler`: the scheduler daemon.
#ifndef BANYAN_TOOLS_SCHEDULER_COMMAND_H_
#define BANYAN_TOOLS_SCHEDULER_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Runs until SIGTERM or Ctrl-C, or until another scheduler leads. `arguments` come after the word `scheduler`.
// `state_home` is where this user's programs keep state; empty: unknown. Returns the exit code: 0 success, 1 failure, 2
// usage.
int SchedulerCommand(absl::Span<const std::string> arguments, const std::string& state_home, std::ostream& out,
                     std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SCHEDULER_COMMAND_H_
