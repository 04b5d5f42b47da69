#include "scheduler/outbox.h"

#include <utility>

namespace banyan {

void Outbox::Add(std::string bytes, bool is_snapshot) {
  last_record_ = last_record_.Next();
  pending_.insert(last_record_);
  actions_.emplace_back(std::in_place_type<PersistRecord>, last_record_, std::move(bytes), is_snapshot);
}

void Outbox::Persisted(RecordId record) {
  if (pending_.erase(record) == 0) return;
  while (!held_.empty() && IsDurable(held_.front().record)) {
    Emit(held_.front().connection, std::move(held_.front().message));
    held_.pop_front();
  }
}

void Outbox::Send(ConnectionId connection, Message message) {
  if (pending_.empty()) {
    Emit(connection, std::move(message));
  } else {
    held_.push_back(Held{last_record_, connection, std::move(message)});
  }
}

void Outbox::SendUrgent(ConnectionId connection, Message message) {
  if (IsDurable(RecordId(1))) {
    Emit(connection, std::move(message));
  } else {
    Send(connection, std::move(message));
  }
}

std::set<ConnectionId> Outbox::CloseHeld() {
  std::set<ConnectionId> closed;
  for (const Held& held : held_) closed.insert(held.connection);
  held_.clear();
  for (const ConnectionId connection : closed) actions_.emplace_back(std::in_place_type<Disconnect>, connection);
  return closed;
}

void Outbox::StartComputation(ComputationId id, std::unique_ptr<Computation> computation) {
  actions_.emplace_back(std::in_place_type<banyan::StartComputation>, id, std::move(computation));
}

void Outbox::Log(LogLevel level, std::string text) {
  actions_.emplace_back(std::in_place_type<LogLine>, level, std::move(text));
}

void Outbox::Admit(std::vector<ListedKey> keys) {
  actions_.emplace_back(std::in_place_type<banyan::Admit>, banyan::Admit{std::move(keys)});
}

void Outbox::Stop(absl::Status status) { actions_.emplace_back(std::in_place_type<banyan::Stop>, std::move(status)); }

Actions Outbox::Take() { return std::exchange(actions_, Actions()); }

void Outbox::Emit(ConnectionId connection, Message message) {
  actions_.emplace_back(std::in_place_type<banyan::Send>, connection, std::move(message), Payload());
}

}  // namespace banyan
