// `banyan trace`: puts together what nodes have noted of the inside of rounds.
#ifndef BANYAN_TOOLS_TRACE_TRACE_COMMAND_H_
#define BANYAN_TOOLS_TRACE_TRACE_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `trace`. Returns the exit code: 0 success, 1 failure, 2 usage.
int TraceCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_TRACE_TRACE_COMMAND_H_
