// What the command line means where the command is installed and where the environment says something. Functions.
#ifndef BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_
#define BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace banyan {

// Returns `arguments` with each sample of the repository, such as deploy/topologies/internet2.yaml, in place of which
// there is no file here, as it is installed below `prefix`.
std::vector<std::string> WithInstalledSamples(std::vector<std::string> arguments, const std::string& prefix);

// Returns `arguments`, of which the first is the command, with `--scheduler scheduler` behind it: for commands that
// talk to a scheduler, unless they say which or only ask for help. An empty `scheduler`, the value of BANYAN_SCHEDULER,
// changes nothing. INVALID_ARGUMENT when it is needed and names no scheduler.
absl::StatusOr<std::vector<std::string>> WithDefaultScheduler(std::vector<std::string> arguments,
                                                              const std::string& scheduler);

// Returns `arguments`, of which the first is the command, with `--key FILE` behind it: for processes that have keys,
// unless they say so themselves, go without or only ask for help. FILE is that of the node, the scheduler, an operator
// or an observer in the first of `folders` that has it; without one nothing changes.
std::vector<std::string> WithDefaultKey(std::vector<std::string> arguments, const std::vector<std::string>& folders);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_
