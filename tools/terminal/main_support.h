// What a main function does around its program: standard input, output and error, and samples that are installed.
#ifndef BANYAN_TOOLS_TERMINAL_MAIN_SUPPORT_H_
#define BANYAN_TOOLS_TERMINAL_MAIN_SUPPORT_H_

#include <ostream>
#include <string>
#include <vector>

namespace banyan {

// Returns `arguments` with each sample of the repository, such as deploy/topologies/internet2.yaml, in place of which
// there is no file here, as it is installed below `prefix`.
std::vector<std::string> WithInstalledSamples(std::vector<std::string> arguments, const std::string& prefix);

// These two change the whole process.
// Opens those of the descriptors 0 to 2 that are closed, before a socket gets such a number and results are written to
// a peer. What is written to a closed standard output fails as before.
void OpenStandardStreams();

// Writes what standard output still holds. Returns `code`, or 1 after a success of which the output could not be
// written; then `err` says so, unless only the reader of a pipe went away.
int FinishOutput(int code, const std::string& command, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_MAIN_SUPPORT_H_
