// `banyan demo`: data centres that train one model on this machine.
#ifndef BANYAN_TOOLS_DEMO_DEMO_COMMAND_H_
#define BANYAN_TOOLS_DEMO_DEMO_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Leaves no process behind. `arguments` come after the word `demo`. Returns the exit code: 0 success; 1 failure, which
// replicas that differ or have learned too little are too; 2 usage.
int DemoCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_COMMAND_H_
