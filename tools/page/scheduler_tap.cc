#include "tools/page/scheduler_tap.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/scheduler_messages.h"
#include "scheduler/peer_text.h"

namespace banyan {
namespace {

constexpr absl::Duration kStatusInterval = absl::Seconds(1);
constexpr double kRowsOfInterval = 3000;
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

}  // namespace

SchedulerTap::SchedulerTap(std::unique_ptr<Protocol> core, Options options)
    : Tap(std::move(core)), options_(std::move(options)) {}

SchedulerTap::~SchedulerTap() {
  is_ending_ = true;
  if (options_.requests != nullptr) options_.requests->Close();
  EndQuestions();
}

void SchedulerTap::OnEvent(Event& event) {
  if (std::holds_alternative<Started>(event) && options_.take_status) next_status_ = now();
  const auto* const received = std::get_if<MessageReceived>(&event);
  const auto* const order = received == nullptr ? nullptr : std::get_if<Reconfigure>(&received->message);
  if (order == nullptr || options_.requests == nullptr) return;
  if (overlays_.size() >= kMostOverlays) overlays_.erase(overlays_.begin());
  overlays_[received->connection] = order->overlay_yaml;
}

bool SchedulerTap::OnAction(Action& action) {
  const auto* const send = std::get_if<Send>(&action);
  if (send == nullptr) return true;
  if (options_.on_sent) options_.on_sent(send->message);
  const auto* const reply = std::get_if<OperatorReply>(&send->message);
  if (reply == nullptr) return true;
  auto wanted = overlays_.extract(send->connection);
  if (!wanted.empty() && reply->accepted) options_.requests->SetOverlay(std::move(wanted.mapped()));
  return true;
}

Timestamp SchedulerTap::NextTurn() const {
  return options_.requests != nullptr && options_.requests->has_orders() ? Timestamp() : next_status_;
}

void SchedulerTap::OnTurn() {
  if (options_.requests != nullptr) {
    for (PageOrder& order : options_.requests->Take()) Give(std::move(order));
  }
  if (now() >= next_status_) AskForStatus();
}

void SchedulerTap::AskForStatus() {
  const Timestamp asked = now();
  next_status_ = kNever;
  Ask(StatusRequest{}, [this, asked](std::optional<Message> reply) {
    if (is_ending_) return;
    auto* const status = reply.has_value() ? std::get_if<StatusReply>(&*reply) : nullptr;
    // What a large job's costs must not take more than a small part of the time.
    next_status_ = asked + kStatusInterval;
    if (status == nullptr) return;
    const JobStatus& job = *status->status;
    const size_t rows = job.nodes.size() + job.links.size() + job.keys.size();
    next_status_ = asked + std::max(1.0, static_cast<double>(rows) / kRowsOfInterval) * kStatusInterval;
    options_.take_status(now(), std::move(*status->status));
  });
}

void SchedulerTap::Give(PageOrder order) {
  const auto log = [this, who = order.operator_name](const std::string& what) {
    Do(LogLine{LogLevel::kInfo, absl::StrCat("operator '", who, "' on the page: ", what)});
  };
  log(Describe(order.message));
  Message message = order.message;
  Ask(std::move(message), [this, log, order = std::move(order)](std::optional<Message> answer) {
    if (is_ending_) return order.reply(NoReply());
    auto* const reply = answer.has_value() ? std::get_if<OperatorReply>(&*answer) : nullptr;
    if (reply == nullptr) {
      const absl::string_view why = "the scheduler could not answer; look at its log";
      log(absl::StrCat("not done: ", why));
      return order.reply(absl::CancelledError(why));
    }
    log(absl::StrCat(reply->accepted ? "done: " : "not done: ", Loggable(reply->text)));
    const auto* const wanted = std::get_if<Reconfigure>(&order.message);
    if (wanted != nullptr && reply->accepted) options_.requests->SetOverlay(wanted->overlay_yaml);
    order.reply(std::move(*reply));
  });
}

}  // namespace banyan
