// Completion of the program's own commands and flags in shells. Pure functions.
#ifndef BANYAN_TOOLS_COMPLETION_H_
#define BANYAN_TOOLS_COMPLETION_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tools/command_table.h"

namespace banyan {

// Returns what may stand in the place of the last of `words`, which follow the program's name: a line for each, with a
// tab and its description. Empty where a file may stand, or anything.
std::string Complete(const CommandTable& commands, absl::Span<const std::string> words);

// Returns `commands` with `completion`, which prints what a shell reads at its start, and the hidden `complete`, which
// that asks.
std::vector<Command> WithCompletion(std::vector<Command> commands);

}  // namespace banyan

#endif  // BANYAN_TOOLS_COMPLETION_H_
