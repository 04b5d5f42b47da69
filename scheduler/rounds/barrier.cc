#include "scheduler/rounds/barrier.h"

namespace banyan {

Barrier::Outcome Barrier::Enter(NodeId node, uint64_t barrier, size_t member_count) {
  if (barrier < next_) return Outcome::kWasBefore;
  if (barrier > next_) return Outcome::kTooFar;
  entered_.insert(node);
  if (entered_.size() < member_count) return Outcome::kWaiting;
  entered_.clear();
  ++next_;
  return Outcome::kReleased;
}

}  // namespace banyan
