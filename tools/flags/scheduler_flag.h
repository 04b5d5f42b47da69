// The flag --scheduler of the commands that talk to a running job. Pure functions.
#ifndef BANYAN_TOOLS_FLAGS_SCHEDULER_FLAG_H_
#define BANYAN_TOOLS_FLAGS_SCHEDULER_FLAG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/command_line.h"

namespace banyan {

// Declares the flag in `line`. `otherwise` tells in the help what counts without it and without the environment's; it
// is empty where nothing does.
void AddSchedulerFlag(CommandLine& line, absl::string_view otherwise, std::string* addresses);

// Returns the addresses that the flag names. INVALID_ARGUMENT, naming the flag, when there are none or one is wrong.
absl::StatusOr<std::vector<std::string>> ReadSchedulerFlag(const std::string& addresses);

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAGS_SCHEDULER_FLAG_H_
