#include "scheduler/rounds/waiting_keys.h"

#include <algorithm>
#include <utility>

#include "scheduler/scheduler_limits.h"

namespace banyan {

bool WaitingKeys::Add(NodeId node, const RegisterKeys::Key& key) {
  const auto known = index_.find(ShapeOf(key));
  if (known != index_.end()) {
    std::vector<NodeId>& nodes = entries_[known->second].nodes;
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return true;
    if (askers_ >= kMaxWaitingAskers) return false;
    nodes.push_back(node);
    ++askers_;
    return true;
  }
  if (entries_.size() >= kMaxWaitingKeys || askers_ >= kMaxWaitingAskers) return false;
  if (grouped_tensors_ + key.layout.parts.size() > kMaxWaitingTensors) return false;
  index_.emplace(ShapeOf(key), entries_.size());
  entries_.push_back({key, {node}});
  ++askers_;
  grouped_tensors_ += key.layout.parts.size();
  return true;
}

void WaitingKeys::Drop(NodeId node) {
  for (const Entry& entry : TakeAll()) {
    for (const NodeId other : entry.nodes) {
      if (other != node) Add(other, entry.key);
    }
  }
}

std::vector<WaitingKeys::Entry> WaitingKeys::TakeAll() {
  index_.clear();
  askers_ = 0;
  grouped_tensors_ = 0;
  return std::exchange(entries_, {});
}

}  // namespace banyan
