#include "tools/operator_order.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "core/json_writer.h"
#include "tools/command_line.h"
#include "tools/scheduler_probe.h"

namespace banyan {

absl::StatusOr<OperatorReply> GiveOrder(const std::string& schedulers, const KeyFlags& keys, Message order,
                                        absl::Duration patience) {
  absl::StatusOr<std::optional<SecurityOptions>> security = keys.Read();
  if (!security.ok()) return security.status();
  std::optional<OperatorReply> answer;
  SchedulerProbeOptions probe;
  probe.schedulers = absl::StrSplit(schedulers, ',');
  probe.security = *std::move(security);
  probe.question = std::move(order);
  probe.patience = patience;
  probe.on_answer = [&answer](const Message& message) {
    const auto* reply = std::get_if<OperatorReply>(&message);
    if (reply != nullptr) answer = *reply;
    return reply != nullptr;
  };
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (!answer.has_value()) return absl::CancelledError("stopped before the scheduler answered; it may still take it");
  return *std::move(answer);
}

int ShowReply(const std::string& command, bool as_json, const OperatorReply& reply, std::ostream& out,
              std::ostream& err) {
  if (as_json) {
    JsonWriter json;
    json.BeginObject().Name("accepted").Boolean(reply.accepted).Name("text").String(reply.text).EndObject();
    out << json.text() << "\n";
  } else if (reply.accepted) {
    out << reply.text << "\n";
  } else {
    err << command << ": refused, nothing has changed: " << reply.text << "\n";
  }
  return reply.accepted ? kExitSuccess : kExitFailure;
}

}  // namespace banyan
