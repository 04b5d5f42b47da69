// What the commands of operators share: the question to the scheduler, and how its answer is shown.
#ifndef BANYAN_TOOLS_OPERATOR_ORDER_H_
#define BANYAN_TOOLS_OPERATOR_ORDER_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/message.h"
#include "proto/scheduler_messages.h"
#include "tools/flags/key_flags.h"

namespace banyan {

// Gives the order to whichever of the schedulers at these addresses, with commas between them, leads. UNAVAILABLE when
// no answer comes within `patience`; other errors are of `keys`, which name the operator; CANCELLED after Ctrl-C, when
// the scheduler may still take it.
absl::StatusOr<OperatorReply> GiveOrder(const std::string& schedulers, const KeyFlags& keys, Message order,
                                        absl::Duration patience);

// Shows the answer to `command`, such as "banyan stop". Returns the exit code.
int ShowReply(const std::string& command, bool as_json, const OperatorReply& reply, std::ostream& out,
              std::ostream& err);

}  // namespace banyan

#endif  // BANYAN_TOOLS_OPERATOR_ORDER_H_
