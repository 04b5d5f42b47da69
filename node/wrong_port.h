// Answers who takes this node for a scheduler: somebody has given the wrong port. Pure function.
#ifndef BANYAN_NODE_WRONG_PORT_H_
#define BANYAN_NODE_WRONG_PORT_H_

#include <optional>
#include <string>

#include "proto/message.h"

namespace banyan {

// Returns the answer to a `message` that begins a conversation with a scheduler: a refusal that names this node, called
// `name`, and `scheduler`, the address of its own. Empty for all other messages.
std::optional<Message> AnswerAsNoScheduler(const Message& message, const std::string& name,
                                           const std::string& scheduler);

}  // namespace banyan

#endif  // BANYAN_NODE_WRONG_PORT_H_
