// The command `banyan replay`: in the scheduler's place where a training is run again from transcripts.
#ifndef BANYAN_TOOLS_REPLAY_REPLAY_COMMAND_H_
#define BANYAN_TOOLS_REPLAY_REPLAY_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// Runs until all nodes have finished, or one cannot go on. Returns the exit code.
int ReplayCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPLAY_REPLAY_COMMAND_H_
