#include "tools/status_probe.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr ConnectionId kScheduler = ConnectionId(1);

template <typename Kind>
void Append(Actions& actions, Kind action) {
  actions.emplace_back(std::in_place_type<Kind>, std::move(action));
}

}  // namespace

StatusProbe::StatusProbe(StatusProbeOptions options) : options_(std::move(options)) {}

Actions StatusProbe::Step(Timestamp now, Event event) {
  Actions actions;
  if (std::holds_alternative<Started>(event)) {
    deadline_ = now + options_.patience;
    asked_ = true;  // by connecting
    Append(actions, Connect{kScheduler, options_.scheduler, Channel::kControl});
  } else if (std::holds_alternative<ConnectionUp>(event)) {
    connected_ = true;
    if (asked_) Ask(now, actions);
  } else if (std::holds_alternative<ConnectionDown>(event)) {
    connected_ = false;
  } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
    TakeAnswer(now, received->message, actions);
  } else if (std::holds_alternative<DeadlineReached>(event)) {
    OnDeadline(now, actions);
  } else if (std::holds_alternative<StopRequested>(event)) {
    Append(actions, Stop{absl::OkStatus()});
  }
  return actions;
}

void StatusProbe::Ask(Timestamp now, Actions& actions) {
  asked_ = true;
  deadline_ = now + options_.patience;
  // A connection that is down asks when it is up.
  if (connected_) Append(actions, Send{kScheduler, StatusRequest{}, {}});
}

void StatusProbe::TakeAnswer(Timestamp now, const Message& message, Actions& actions) {
  const auto* reply = std::get_if<StatusReply>(&message);
  if (reply == nullptr || !asked_) return;
  asked_ = false;
  options_.on_status(reply->json);
  deadline_ = kNever;
  if (options_.interval.has_value()) {
    deadline_ = now + *options_.interval;
  } else {
    Append(actions, Stop{absl::OkStatus()});
  }
}

void StatusProbe::OnDeadline(Timestamp now, Actions& actions) {
  if (now < deadline_) return;
  if (!asked_) {
    Ask(now, actions);
    return;
  }
  Append(actions,
         Stop{absl::UnavailableError(absl::StrCat(
             "expected an answer from the scheduler at ", options_.scheduler, " within ",
             absl::FormatDuration(options_.patience), ", got none",
             connected_ ? " though it took the connection; is it a Banyan scheduler?" : "; does it run there?"))});
  deadline_ = kNever;
}

}  // namespace banyan
