// `banyan sim`: simulates a job's rounds over an overlay.
#ifndef BANYAN_TOOLS_SIM_COMMAND_H_
#define BANYAN_TOOLS_SIM_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `sim`. Returns the exit code: 0 success, 1 failure, 2 usage.
int SimCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SIM_COMMAND_H_
