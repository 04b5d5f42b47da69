#include "tools/scheduler_probe.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "posix/stop_signals.h"
#include "runtime/protocol_host.h"
#include "tools/daemon/daemon_run.h"

namespace banyan {
namespace {

template <typename Kind>
void Append(Actions& actions, Kind action) {
  actions.emplace_back(std::in_place_type<Kind>, std::move(action));
}

}  // namespace

SchedulerProbe::SchedulerProbe(SchedulerProbeOptions options) : options_(std::move(options)) {}

Actions SchedulerProbe::Step(Timestamp now, Event event) {
  Actions actions;
  if (std::holds_alternative<Started>(event)) {
    Begin(now, actions);
    ConnectionId connection;
    for (const std::string& scheduler : options_.schedulers) {
      connection = connection.Next();
      Append(actions, Connect{connection, scheduler, Channel::kControl});
    }
  } else if (const auto* up = std::get_if<ConnectionUp>(&event)) {
    up_.insert(up->connection);
    // The patience for an answer begins with the first connection.
    if (!std::exchange(was_up_, true) && asked_) deadline_ = now + Patience();
    if (asked_ && up_.size() == 1) Ask(actions);
  } else if (const auto* down = std::get_if<ConnectionDown>(&event)) {
    up_.erase(down->connection);
    OnLost(down->connection, actions);
  } else if (auto* failed = std::get_if<ConnectFailed>(&event)) {
    failure_ = std::move(failed->reason);
  } else if (const auto* received = std::get_if<MessageReceived>(&event)) {
    TakeAnswer(now, received->message, actions);
  } else if (std::holds_alternative<DeadlineReached>(event)) {
    OnDeadline(now, actions);
  } else if (std::holds_alternative<StopRequested>(event)) {
    Append(actions, Stop{absl::OkStatus()});
  }
  return actions;
}

absl::Duration SchedulerProbe::Patience() const {
  return was_up_ ? options_.patience : std::min(options_.patience, options_.connect_patience);
}

void SchedulerProbe::Begin(Timestamp now, Actions& actions) {
  asked_ = true;
  lost_ = 0;
  deadline_ = now + Patience();
  Ask(actions);
}

void SchedulerProbe::Ask(Actions& actions) {
  // Without a connection the next one asks.
  if (up_.empty()) return;
  asked_at_ = *up_.begin();
  is_on_its_way_ = true;
  Append(actions, Send{asked_at_, options_.question, {}});
}

void SchedulerProbe::OnLost(ConnectionId connection, Actions& actions) {
  if (!asked_ || connection != asked_at_ || !std::exchange(is_on_its_way_, false)) return;
  if (++lost_ < kMostLost) return Ask(actions);
  asked_ = false;
  deadline_ = kNever;
  Append(actions, Stop{absl::ResourceExhaustedError(absl::StrCat(
                      "expected an answer from the scheduler at ", absl::StrJoin(options_.schedulers, " or "),
                      ", and the connection ended ", lost_,
                      " times when it was asked: is the answer larger than a message may be, or does the scheduler end "
                      "again and again?"))});
}

void SchedulerProbe::TakeAnswer(Timestamp now, const Message& message, Actions& actions) {
  if (options_.on_aside && options_.on_aside(message)) return;
  if (!asked_) return;
  if (!options_.on_answer(message)) return TakeRefusal(message, actions);
  asked_ = false;
  is_on_its_way_ = false;
  was_answered_ = true;
  is_silent_ = false;
  deadline_ = kNever;
  if (options_.interval.has_value() && !(options_.is_done && options_.is_done())) {
    deadline_ = now + *options_.interval;
    AskAside(actions);
  } else {
    Append(actions, Stop{absl::OkStatus()});
  }
}

void SchedulerProbe::AskAside(Actions& actions) {
  if (!options_.aside || up_.empty()) return;
  std::optional<Message> question = options_.aside();
  if (question.has_value()) Append(actions, Send{asked_at_, *std::move(question), {}});
}

void SchedulerProbe::TakeRefusal(const Message& message, Actions& actions) {
  // What has another port is no scheduler, and knows one.
  const auto* refusal = std::get_if<OperatorReply>(&message);
  if (refusal == nullptr || refusal->accepted) return;
  asked_ = false;
  deadline_ = kNever;
  Append(actions, Stop{absl::FailedPreconditionError(
                      absl::StrCat(absl::StrJoin(options_.schedulers, " or "), ": ", refusal->text))});
}

void SchedulerProbe::OnDeadline(Timestamp now, Actions& actions) {
  if (now < deadline_) return;
  if (!asked_) {
    Begin(now, actions);
    return;
  }
  absl::Status silence = absl::UnavailableError(absl::StrCat(
      "expected an answer from the scheduler at ", absl::StrJoin(options_.schedulers, " or "), " within ",
      absl::FormatDuration(Patience()), ", got none",
      !up_.empty()
          ? std::string(" though it took the connection; is it a Banyan scheduler?")
          : absl::StrCat("; does it run there?",
                         failure_.empty()
                             ? ""
                             : absl::StrCat(" (", failure_, options_.key_file.empty() ? "" : "; this one used the key ",
                                            options_.key_file, ")"))));
  if (options_.on_silence && was_answered_) {
    if (!std::exchange(is_silent_, true)) options_.on_silence(silence);
    return Begin(now, actions);
  }
  Append(actions, Stop{std::move(silence)});
  deadline_ = kNever;
}

absl::Status AskScheduler(SchedulerProbeOptions options) {
  const StopSignals signals;
  ProtocolHostOptions host_options;
  host_options.name = "probe";
  host_options.security = options.security;
  absl::StatusOr<std::unique_ptr<ProtocolHost>> host = ProtocolHost::Create(std::move(host_options));
  if (!host.ok()) return host.status();
  return RunUntilStopped(signals, **host, std::make_unique<SchedulerProbe>(std::move(options)));
}

}  // namespace banyan
