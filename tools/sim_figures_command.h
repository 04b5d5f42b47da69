// `banyan sim-figures`: simulates every figure of an evaluation and writes tables and plots.
#ifndef BANYAN_TOOLS_SIM_FIGURES_COMMAND_H_
#define BANYAN_TOOLS_SIM_FIGURES_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Returns the exit code.
int SimFiguresCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_SIM_FIGURES_COMMAND_H_
