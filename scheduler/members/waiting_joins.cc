#include "scheduler/members/waiting_joins.h"

#include <algorithm>
#include <utility>

#include "scheduler/scheduler_limits.h"

namespace banyan {

std::optional<WaitingJoins::Entry> WaitingJoins::Add(NodeId node, ConnectionId connection, const Join& join) {
  std::vector<Entry>& starts = entries_[node];
  const auto same = std::find_if(starts.begin(), starts.end(),
                                 [&join](const Entry& entry) { return entry.join.incarnation == join.incarnation; });
  if (same != starts.end()) {
    *same = Entry{connection, join};
    return std::nullopt;
  }
  starts.push_back({connection, join});
  if (starts.size() <= kMostWaitingStarts) return std::nullopt;
  Entry oldest = std::move(starts.front());
  starts.erase(starts.begin());
  return oldest;
}

std::optional<NodeId> WaitingJoins::Drop(ConnectionId connection) {
  for (auto& [node, starts] : entries_) {
    if (std::erase_if(starts, [&](const Entry& entry) { return entry.connection == connection; }) == 0) continue;
    const NodeId dropped = node;
    if (starts.empty()) entries_.erase(dropped);
    return dropped;
  }
  return std::nullopt;
}

std::optional<WaitingJoins::Entry> WaitingJoins::Take(NodeId node) {
  const auto found = entries_.find(node);
  if (found == entries_.end()) return std::nullopt;
  Entry entry = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) entries_.erase(found);
  return entry;
}

bool WaitingJoins::Has(ConnectionId connection) const {
  return std::any_of(entries_.begin(), entries_.end(), [connection](const auto& of_node) {
    return std::any_of(of_node.second.begin(), of_node.second.end(),
                       [connection](const Entry& entry) { return entry.connection == connection; });
  });
}

std::vector<ConnectionId> WaitingJoins::ConnectionsOf(NodeId node) const {
  std::vector<ConnectionId> connections;
  const auto found = entries_.find(node);
  if (found == entries_.end()) return connections;
  for (const Entry& entry : found->second) connections.push_back(entry.connection);
  return connections;
}

size_t WaitingJoins::size() const {
  size_t size = 0;
  for (const auto& [node, starts] : entries_) size += starts.size();
  return size;
}

std::vector<NodeId> WaitingJoins::Nodes() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, starts] : entries_) nodes.push_back(node);
  return nodes;
}

}  // namespace banyan
