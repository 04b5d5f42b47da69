// `banyan plan`: shows how gradients would travel over an overlay.
#ifndef BANYAN_TOOLS_PLAN_COMMAND_H_
#define BANYAN_TOOLS_PLAN_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `plan`. Returns the exit code: 0 success, 1 failure, 2 usage.
int PlanCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_PLAN_COMMAND_H_
