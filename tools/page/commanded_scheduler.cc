#include "tools/page/commanded_scheduler.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/scheduler_messages.h"
#include "scheduler/peer_text.h"

namespace banyan {
namespace {

// Far above those that drivers count upwards from kInboundConnection, and below that of WatchedScheduler.
constexpr ConnectionId kFirstConnection = ConnectionId(std::numeric_limits<uint64_t>::max() / 4 * 3);
// One is read at a time, and others are refused at once.
constexpr size_t kMostOverlays = 4;
constexpr size_t kMostLogged = 200;

std::string Loggable(absl::string_view text) { return PrintableText(std::string(text), kMostLogged); }

std::string Describe(const Message& message) {
  if (const auto* remove = std::get_if<RemoveNode>(&message)) return absl::StrCat("remove ", Loggable(remove->name));
  if (const auto* stop = std::get_if<StopJob>(&message)) return absl::StrCat("stop the job: ", Loggable(stop->reason));
  if (std::holds_alternative<Reconfigure>(message)) return "reconfigure the job";
  return "another order";
}

void Log(const PageOrder& order, const std::string& what, Actions& actions) {
  actions.emplace_back(
      LogLine{LogLevel::kInfo, absl::StrCat("operator '", order.operator_name, "' on the page: ", what)});
}

}  // namespace

CommandedScheduler::CommandedScheduler(std::unique_ptr<Protocol> core, std::shared_ptr<OrderDesk> desk)
    : core_(std::move(core)), desk_(std::move(desk)), last_connection_(kFirstConnection) {}

CommandedScheduler::~CommandedScheduler() {
  desk_->Close();
  for (const auto& [connection, order] : open_) order.reply(NoReply());
}

Actions CommandedScheduler::Step(Timestamp now, Event event) {
  Actions actions;
  if (const auto* received = std::get_if<MessageReceived>(&event)) NoteOrder(received->connection, received->message);
  // The deadline may have been this class's own.
  if (!std::holds_alternative<DeadlineReached>(event) || now >= core_->NextDeadline()) {
    StepCore(now, std::move(event), actions);
  }
  for (PageOrder& order : desk_->Take()) Give(now, std::move(order), actions);
  return actions;
}

Timestamp CommandedScheduler::NextDeadline() const { return desk_->has_orders() ? Timestamp() : core_->NextDeadline(); }

void CommandedScheduler::Give(Timestamp now, PageOrder order, Actions& actions) {
  last_connection_ = ConnectionId(last_connection_.value() + 1);
  const ConnectionId connection = last_connection_;
  Log(order, Describe(order.message), actions);
  NoteOrder(connection, order.message);
  Message message = order.message;
  open_.emplace(connection, std::move(order));
  StepCore(now, MessageReceived{connection, std::move(message), {}}, actions);
}

void CommandedScheduler::StepCore(Timestamp now, Event event, Actions& actions) {
  for (Action& action : core_->Step(now, std::move(event))) PassOn(std::move(action), actions);
}

void CommandedScheduler::PassOn(Action action, Actions& actions) {
  if (const auto* send = std::get_if<Send>(&action)) {
    const auto* reply = std::get_if<OperatorReply>(&send->message);
    if (reply != nullptr) NoteReply(send->connection, *reply);
    if (open_.count(send->connection) > 0) {
      if (reply != nullptr) End(send->connection, *reply, actions);
      return;
    }
  } else if (const auto* closed = std::get_if<Disconnect>(&action); closed != nullptr) {
    // Of connections that wait for a storage that stands still.
    if (open_.count(closed->connection) > 0) {
      return End(closed->connection, absl::CancelledError("the scheduler could not answer; look at its log"), actions);
    }
  }
  actions.push_back(std::move(action));
}

void CommandedScheduler::End(ConnectionId connection, absl::StatusOr<OperatorReply> reply, Actions& actions) {
  const PageOrder order = std::move(open_.extract(connection).mapped());
  const absl::string_view text = reply.ok() ? absl::string_view(reply->text) : reply.status().message();
  Log(order, absl::StrCat(reply.ok() && reply->accepted ? "done: " : "not done: ", Loggable(text)), actions);
  order.reply(std::move(reply));
}

void CommandedScheduler::NoteOrder(ConnectionId connection, const Message& message) {
  const auto* order = std::get_if<Reconfigure>(&message);
  if (order == nullptr) return;
  if (overlays_.size() >= kMostOverlays) overlays_.erase(overlays_.begin());
  overlays_[connection] = order->overlay_yaml;
}

void CommandedScheduler::NoteReply(ConnectionId connection, const OperatorReply& reply) {
  auto wanted = overlays_.extract(connection);
  if (!wanted.empty() && reply.accepted) desk_->SetOverlay(std::move(wanted.mapped()));
}

}  // namespace banyan
