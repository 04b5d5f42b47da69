// `banyan chaos`: breaks a running job, for people who want to see it survive.
#ifndef BANYAN_TOOLS_CHAOS_CHAOS_COMMAND_H_
#define BANYAN_TOOLS_CHAOS_CHAOS_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `chaos`. Returns the exit code: 0 success; 1 failure, which a job that has ended
// before its training is too; 2 usage.
int ChaosCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_CHAOS_CHAOS_COMMAND_H_
