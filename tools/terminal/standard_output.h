// Standard input, output and error of the command. For its main function; each function changes the whole process.
#ifndef BANYAN_TOOLS_TERMINAL_STANDARD_OUTPUT_H_
#define BANYAN_TOOLS_TERMINAL_STANDARD_OUTPUT_H_

#include <ostream>
#include <string>

namespace banyan {

// Opens those of the descriptors 0 to 2 that are closed, before a socket gets such a number and results are written to
// a peer. What is written to a closed standard output fails as before.
void OpenStandardStreams();

// Writes what standard output still holds. Returns `code`, or 1 after a success of which the output could not be
// written; then `err` says so, unless only the reader of a pipe went away.
int FinishOutput(int code, const std::string& command, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TERMINAL_STANDARD_OUTPUT_H_
