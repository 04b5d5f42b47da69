#include "node/wrong_port.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/scheduler_messages.h"

namespace banyan {
namespace {

// Of a scheduler that there is not: any that knows a later one passes over what this one says.
constexpr Term kFirstTerm(1);

template <typename... Kinds>
bool IsAnyOf(const Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

}  // namespace

std::optional<Message> AnswerAsNoScheduler(const Message& message, const std::string& name,
                                           const std::string& scheduler) {
  const std::string reason = absl::StrCat("this is the port of node ", name, ", not of a scheduler; ", name,
                                          "'s scheduler is at ", scheduler, ": give that one with --scheduler");
  if (IsAnyOf<Join>(message)) return JoinRefused{.term = kFirstTerm, .reason = reason};
  if (IsAnyOf<StatusRequest, Reconfigure, StopJob, RemoveNode, VetoLowBit, TraceRounds>(message))
    return OperatorReply{false, reason};
  return std::nullopt;
}

}  // namespace banyan
