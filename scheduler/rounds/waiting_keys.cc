#include "scheduler/rounds/waiting_keys.h"

#include <utility>

#include "scheduler/scheduler_limits.h"

namespace banyan {

bool WaitingKeys::Add(NodeId node, const RegisterKeys::Key& key) {
  if (seen_.count({node, key.name, key.elements}) > 0) return true;
  if (entries_.size() >= kMaxWaitingKeys) return false;
  seen_.emplace(node, key.name, key.elements);
  entries_.push_back(Entry{node, key});
  return true;
}

void WaitingKeys::Drop(NodeId node) {
  std::erase_if(entries_, [node](const Entry& entry) { return entry.node == node; });
  std::erase_if(seen_, [node](const auto& seen) { return std::get<0>(seen) == node; });
}

std::vector<WaitingKeys::Entry> WaitingKeys::TakeAll() {
  seen_.clear();
  return std::exchange(entries_, {});
}

}  // namespace banyan
