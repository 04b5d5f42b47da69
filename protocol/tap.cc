#include "protocol/tap.h"

#include <algorithm>
#include <variant>

namespace banyan {

Actions Tap::Step(Timestamp now, Event event) {
  now_ = now;
  OnEvent(event);
  if (!std::holds_alternative<DeadlineReached>(event) || now >= core_->NextDeadline()) Tell(std::move(event));
  if (now >= NextTurn() && !has_stopped_) OnTurn();
  return std::exchange(actions_, {});
}

Timestamp Tap::NextDeadline() const { return std::min(core_->NextDeadline(), NextTurn()); }

void Tap::Tell(Event event) {
  if (has_stopped_) return;
  for (Action& action : core_->Step(now_, std::move(event))) {
    if (std::holds_alternative<Stop>(action)) has_stopped_ = true;
    if (!Answers(action) && OnAction(action)) Do(std::move(action));
  }
}

void Tap::Ask(Message question, Reply reply) {
  last_question_ = ConnectionId(last_question_.value() + 1);
  questions_.emplace(last_question_, std::move(reply));
  Tell(MessageReceived{last_question_, std::move(question), {}});
}

void Tap::EndQuestions() {
  for (const auto& [connection, reply] : std::exchange(questions_, {})) reply(std::nullopt);
}

bool Tap::Answers(Action& action) {
  auto* const send = std::get_if<Send>(&action);
  const auto* const closed = std::get_if<Disconnect>(&action);
  if (send == nullptr && closed == nullptr) return false;
  const ConnectionId connection = send != nullptr ? send->connection : closed->connection;
  if (connection <= kTapConnection) return false;
  const auto question = questions_.extract(connection);
  if (question.empty()) return true;
  question.mapped()(send != nullptr ? std::optional<Message>(std::move(send->message)) : std::nullopt);
  return true;
}

}  // namespace banyan
