#include "scheduler/members/waiting_joins.h"

#include <utility>

namespace banyan {

bool WaitingJoins::Add(NodeId node, ConnectionId connection, const Join& join) {
  const auto [entry, is_new] = entries_.try_emplace(node, Entry{connection, join});
  if (is_new) return true;
  if (entry->second.join.incarnation != join.incarnation) return false;
  entry->second = Entry{connection, join};
  return true;
}

std::optional<NodeId> WaitingJoins::Drop(ConnectionId connection) {
  for (const auto& [node, entry] : entries_) {
    if (entry.connection != connection) continue;
    const NodeId dropped = node;
    entries_.erase(dropped);
    return dropped;
  }
  return std::nullopt;
}

std::optional<WaitingJoins::Entry> WaitingJoins::Take(NodeId node) {
  const auto found = entries_.find(node);
  if (found == entries_.end()) return std::nullopt;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  return entry;
}

std::vector<NodeId> WaitingJoins::Nodes() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, entry] : entries_) nodes.push_back(node);
  return nodes;
}

}  // namespace banyan
