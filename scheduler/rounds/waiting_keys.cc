#include "scheduler/rounds/waiting_keys.h"

#include <utility>

#include "scheduler/scheduler_limits.h"

namespace banyan {

bool WaitingKeys::Add(NodeId node, const RegisterKeys::Key& key) {
  const uint64_t layout = key.layout.Hash();
  if (seen_.count({node, key.name, key.elements, layout}) > 0) return true;
  if (entries_.size() >= kMaxWaitingKeys) return false;
  if (grouped_tensors_ + key.layout.parts.size() > kMaxWaitingTensors) return false;
  seen_.emplace(node, key.name, key.elements, layout);
  grouped_tensors_ += key.layout.parts.size();
  entries_.push_back(Entry{node, key});
  return true;
}

void WaitingKeys::Drop(NodeId node) {
  for (const Entry& entry : entries_) {
    if (entry.node == node) grouped_tensors_ -= entry.key.layout.parts.size();
  }
  std::erase_if(entries_, [node](const Entry& entry) { return entry.node == node; });
  std::erase_if(seen_, [node](const auto& seen) { return std::get<0>(seen) == node; });
}

std::vector<WaitingKeys::Entry> WaitingKeys::TakeAll() {
  seen_.clear();
  grouped_tensors_ = 0;
  return std::exchange(entries_, {});
}

}  // namespace banyan
