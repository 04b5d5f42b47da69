#include "node/link/data_connections.h"

#include <algorithm>
#include <utility>

namespace banyan {

DataConnections::DataConnections(const std::vector<ConnectionId>& ids) {
  for (const ConnectionId id : ids) states_[id];
}

void DataConnections::OnUp(ConnectionId connection) {
  const auto found = states_.find(connection);
  if (found == states_.end()) return;
  found->second.up = true;
  was_up_ = true;
}

void DataConnections::OnDown(ConnectionId connection) {
  const auto found = states_.find(connection);
  if (found == states_.end()) return;
  found->second.up = false;
  found->second.is_trusted = true;
}

void DataConnections::Add(ConnectionId connection, int64_t size_bytes) {
  states_.at(connection).in_flight_bytes += size_bytes;
}

void DataConnections::Remove(ConnectionId connection, int64_t size_bytes) {
  states_.at(connection).in_flight_bytes -= size_bytes;
}

void DataConnections::Overtake(ConnectionId connection) { ++states_.at(connection).overtaken; }

void DataConnections::Recover(ConnectionId connection) { --states_.at(connection).overtaken; }

void DataConnections::SetTrusted(ConnectionId connection, bool is_trusted) {
  states_.at(connection).is_trusted = is_trusted;
}

void DataConnections::Clear() {
  for (auto& [id, state] : states_) {
    state.in_flight_bytes = state.overtaken = 0;
    state.is_trusted = true;
  }
}

std::optional<ConnectionId> DataConnections::LeastLoaded(int64_t most_used) const {
  const std::pair<const ConnectionId, State>* best = nullptr;
  const std::pair<const ConnectionId, State>* other = nullptr;
  int64_t seen = 0;
  for (const auto& entry : states_) {
    const State& state = entry.second;
    if (!state.up) continue;
    const bool is_doubtful = state.overtaken > 0 || !state.is_trusted;
    if (!is_doubtful && ++seen > most_used) break;
    const std::pair<const ConnectionId, State>*& least = is_doubtful ? other : best;
    if (least == nullptr || state.in_flight_bytes < least->second.in_flight_bytes) least = &entry;
  }
  if (best == nullptr) best = other;
  return best == nullptr ? std::nullopt : std::optional<ConnectionId>(best->first);
}

std::optional<ConnectionId> DataConnections::Idle() const {
  for (const auto& [id, state] : states_) {
    if (state.up && state.is_trusted && state.in_flight_bytes == 0) return id;
  }
  return std::nullopt;
}

bool DataConnections::is_up() const {
  return std::any_of(states_.begin(), states_.end(), [](const auto& entry) { return entry.second.up; });
}

int64_t DataConnections::in_flight_bytes(ConnectionId connection) const {
  const auto found = states_.find(connection);
  return found == states_.end() ? 0 : found->second.in_flight_bytes;
}

}  // namespace banyan
