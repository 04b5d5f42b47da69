// `banyan wan`: an emulated WAN on this machine (wan).
#ifndef BANYAN_TOOLS_WAN_COMMAND_H_
#define BANYAN_TOOLS_WAN_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Takes the arguments after `wan` and returns the exit code.
int WanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_COMMAND_H_
