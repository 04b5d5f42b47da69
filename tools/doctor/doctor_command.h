// `banyan doctor`: looks for what will keep a job from running at this site, or at all, and says what to do. Function.
#ifndef BANYAN_TOOLS_DOCTOR_DOCTOR_COMMAND_H_
#define BANYAN_TOOLS_DOCTOR_DOCTOR_COMMAND_H_

#include <ostream>
#include <string>

#include "absl/types/span.h"

namespace banyan {

// `arguments` come after the word `doctor`. Returns the exit code: 0 all is well, 1 something is to fix, 2 usage.
int DoctorCommand(absl::Span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_DOCTOR_COMMAND_H_
