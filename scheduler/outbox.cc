#include "scheduler/outbox.h"

#include <utility>

namespace banyan {

void Outbox::Add(Timestamp now, std::string bytes, bool is_snapshot) {
  last_record_ = last_record_.Next();
  pending_.emplace(last_record_, now);
  actions_.emplace_back(std::in_place_type<PersistRecord>, last_record_, std::move(bytes), is_snapshot);
}

void Outbox::Persisted(RecordId record) {
  if (pending_.erase(record) == 0) return;
  while (!held_.empty() && IsDurable(held_.front().record)) {
    actions_.push_back(std::move(held_.front().action));
    held_.pop_front();
  }
}

void Outbox::HoldOrEmit(Action action) {
  if (pending_.empty()) {
    actions_.push_back(std::move(action));
  } else {
    held_.push_back(Held{last_record_, std::move(action)});
  }
}

void Outbox::Send(ConnectionId connection, Message message) {
  HoldOrEmit(Action(std::in_place_type<banyan::Send>, connection, std::move(message), Payload()));
}

void Outbox::SendUrgent(ConnectionId connection, Message message) {
  if (!IsDurable(RecordId(1))) return Send(connection, std::move(message));
  actions_.emplace_back(std::in_place_type<banyan::Send>, connection, std::move(message), Payload());
}

void Outbox::DropHeld() {
  std::erase_if(held_, [](const Held& held) { return std::holds_alternative<banyan::Send>(held.action); });
}

std::set<ConnectionId> Outbox::CloseHeld() {
  std::set<ConnectionId> closed;
  for (const Held& held : held_) {
    const auto* send = std::get_if<banyan::Send>(&held.action);
    if (send != nullptr) closed.insert(send->connection);
  }
  DropHeld();
  for (const ConnectionId connection : closed) Close(connection);
  return closed;
}

void Outbox::StartComputation(ComputationId id, std::unique_ptr<Computation> computation) {
  actions_.emplace_back(std::in_place_type<banyan::StartComputation>, id, std::move(computation));
}

void Outbox::Log(LogLevel level, std::string text) {
  actions_.emplace_back(std::in_place_type<LogLine>, level, std::move(text));
}

void Outbox::Admit(std::vector<ListedKey> keys) {
  HoldOrEmit(Action(std::in_place_type<banyan::Admit>, banyan::Admit{std::move(keys)}));
}

void Outbox::Close(ConnectionId connection) { actions_.emplace_back(std::in_place_type<Disconnect>, connection); }

void Outbox::Stop(absl::Status status) { actions_.emplace_back(std::in_place_type<banyan::Stop>, std::move(status)); }

Actions Outbox::Take() { return std::exchange(actions_, Actions()); }

}  // namespace banyan
