// `banyan preflight`: whether a job, an operating profile and a binding fit, before a run with low-bit rounds.
#ifndef BANYAN_TOOLS_PREFLIGHT_PREFLIGHT_COMMAND_H_
#define BANYAN_TOOLS_PREFLIGHT_PREFLIGHT_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `preflight`. Returns the exit code: 0 when every check passed or a proposal was
// printed, 1 when one failed, 2 usage.
int PreflightCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PREFLIGHT_PREFLIGHT_COMMAND_H_
