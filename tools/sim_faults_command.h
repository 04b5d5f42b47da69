// `banyan sim-faults`: simulates random jobs under random faults that they are to outlive.
#ifndef BANYAN_TOOLS_SIM_FAULTS_COMMAND_H_
#define BANYAN_TOOLS_SIM_FAULTS_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `sim-faults`. Returns the exit code: 0 success, 1 when a seed breaks a rule or hangs,
// 2 usage.
int SimFaultsCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SIM_FAULTS_COMMAND_H_
