#include "scheduler/rounds/barrier.h"

#include <algorithm>

namespace banyan {

Barrier::Outcome Barrier::Enter(NodeId node, uint64_t barrier) {
  if (barrier < next_) return Outcome::kWasBefore;
  if (barrier > next_) return Outcome::kTooFar;
  entered_.insert(node);
  return Outcome::kWaiting;
}

bool Barrier::Release(const std::vector<NodeId>& awaited) {
  const auto has_entered = [this](NodeId node) { return entered_.count(node) > 0; };
  if (entered_.empty() || !std::all_of(awaited.begin(), awaited.end(), has_entered)) return false;
  entered_.clear();
  ++next_;
  return true;
}

}  // namespace banyan
