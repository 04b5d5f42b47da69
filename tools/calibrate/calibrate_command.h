// `banyan calibrate`: an operating profile from the losses of past runs.
#ifndef BANYAN_TOOLS_CALIBRATE_CALIBRATE_COMMAND_H_
#define BANYAN_TOOLS_CALIBRATE_CALIBRATE_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `calibrate`. Prints the profile; returns the exit code: 0 success, 1 where a file
// cannot be used or a harmed run goes undetected, 2 usage.
int CalibrateCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_CALIBRATE_CALIBRATE_COMMAND_H_
