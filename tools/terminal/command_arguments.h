// What the command line means where the command is installed. A function.
#ifndef BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_
#define BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_

#include <string>
#include <vector>

namespace banyan {

// Returns `arguments` with each sample of the repository, such as deploy/topologies/internet2.yaml, in place of which
// there is no file here, as it is installed below `prefix`.
std::vector<std::string> WithInstalledSamples(std::vector<std::string> arguments, const std::string& prefix);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_COMMAND_ARGUMENTS_H_
