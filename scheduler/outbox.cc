#include "scheduler/outbox.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace banyan {
namespace {

size_t BytesOf(NodeId) { return sizeof(NodeId); }
size_t BytesOf(int64_t) { return sizeof(int64_t); }

template <typename Entry>
size_t BytesOf(const Entry& entry);

template <typename Entry>
size_t BytesOf(const std::vector<Entry>& entries) {
  size_t bytes = 0;
  for (const Entry& entry : entries) bytes += BytesOf(entry);
  return bytes;
}

// What messages and their entries have that grows.
template <typename Entry>
size_t BytesOf(const Entry& entry) {
  size_t bytes = sizeof(Entry);
  if constexpr (requires { entry.entries; }) bytes += BytesOf(entry.entries);
  if constexpr (requires { entry.keys; }) bytes += BytesOf(entry.keys);
  if constexpr (requires { entry.bindings; }) bytes += BytesOf(entry.bindings);
  if constexpr (requires { entry.frontiers; }) bytes += BytesOf(entry.frontiers);
  if constexpr (requires { entry.runs; }) bytes += BytesOf(entry.runs);
  if constexpr (requires { entry.pushed; }) bytes += sizeof(KeysPushed) * entry.pushed.size();
  if constexpr (requires { entry.paths; }) bytes += BytesOf(entry.paths);
  if constexpr (requires { entry.path; }) bytes += BytesOf(entry.path);
  if constexpr (requires { entry.slice; }) bytes += BytesOf(entry.slice);
  if constexpr (requires { entry.trees; }) bytes += BytesOf(entry.trees);
  if constexpr (requires { entry.reduce_children; }) bytes += BytesOf(entry.reduce_children);
  if constexpr (requires { entry.broadcast_children; }) bytes += BytesOf(entry.broadcast_children);
  if constexpr (requires { entry.routes; }) bytes += BytesOf(entry.routes);
  if constexpr (requires { entry.auxiliary; }) bytes += BytesOf(entry.auxiliary);
  if constexpr (requires { entry.neighbours; }) bytes += BytesOf(entry.neighbours);
  if constexpr (requires { entry.borders; }) bytes += BytesOf(entry.borders);
  if constexpr (requires { entry.json.size(); }) bytes += entry.json.size();
  if constexpr (requires { entry.name.size(); }) bytes += entry.name.size();
  if constexpr (requires { entry.public_key.size(); }) bytes += entry.public_key.size();
  return bytes;
}

size_t BytesOf(const Message& message) {
  return sizeof(Message) + std::visit([](const auto& any) { return BytesOf(any); }, message);
}

}  // namespace

void Outbox::Add(Timestamp now, std::string bytes, bool is_snapshot) {
  last_record_ = last_record_.Next();
  pending_.emplace(last_record_, now);
  actions_.emplace_back(std::in_place_type<PersistRecord>, last_record_, std::move(bytes), is_snapshot);
}

void Outbox::Persisted(RecordId record) {
  if (pending_.erase(record) == 0) return;
  while (!held_.empty() && IsDurable(held_.front().record)) {
    held_bytes_ -= held_.front().bytes;
    actions_.push_back(std::move(held_.front().action));
    held_.pop_front();
  }
}

void Outbox::HoldOrEmit(Action action) {
  if (pending_.empty()) {
    actions_.push_back(std::move(action));
  } else {
    const auto* send = std::get_if<banyan::Send>(&action);
    const size_t bytes = send == nullptr ? 0 : BytesOf(send->message);
    held_bytes_ += bytes;
    held_.push_back(Held{last_record_, std::move(action), bytes});
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
  DropHeld([](const Message& message) {
    return !std::holds_alternative<OperatorReply>(message) && !std::holds_alternative<TracePiece>(message) &&
           !std::holds_alternative<TraceEnd>(message);
  });
}

void Outbox::DropHeld(absl::FunctionRef<bool(const Message&)> is_void) {
  std::erase_if(held_, [&](const Held& held) {
    const auto* send = std::get_if<banyan::Send>(&held.action);
    if (send == nullptr || !is_void(send->message)) return false;
    held_bytes_ -= held.bytes;
    return true;
  });
}

std::set<ConnectionId> Outbox::CloseHeld() {
  std::set<ConnectionId> closed;
  for (const Held& held : held_) {
    const auto* send = std::get_if<banyan::Send>(&held.action);
    if (send != nullptr) closed.insert(send->connection);
  }
  DropHeld([](const Message&) { return true; });
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
