#include "scheduler/rounds/job_barriers.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace banyan {

void JobBarriers::Enter(NodeId node, const BarrierEntered& message) {
  const uint64_t before = members_->table().Find(node).barriers_before;
  const bool is_countable = message.barrier <= std::numeric_limits<uint64_t>::max() - before;
  const auto outcome = is_countable ? barrier_.Enter(node, message.barrier + before) : Barrier::Outcome::kTooFar;
  switch (outcome) {
    case Barrier::Outcome::kWaiting:
      return Review();
    case Barrier::Outcome::kWasBefore:
      return SendRelease(node, message.barrier + before);
    case Barrier::Outcome::kTooFar:
      return members_->Reject(node, absl::StrCat("barrier ", message.barrier, ", which is not its next one"));
  }
}

void JobBarriers::Review() {
  // Before the start nobody knows whom a barrier waits for.
  if (!job_->IsRunning()) return;
  const uint64_t barrier = barrier_.next();
  if (!barrier_.Release(Awaited())) return;
  context_->Persist(BarrierRecord{barrier});
  for (const NodeId node : members_->table().Members()) SendRelease(node, barrier);
}

std::vector<NodeId> JobBarriers::Missing() const {
  std::vector<NodeId> missing;
  if (barrier_.entered().empty()) return missing;
  for (const NodeId node : Awaited()) {
    if (barrier_.entered().count(node) == 0) missing.push_back(node);
  }
  return missing;
}

std::vector<NodeId> JobBarriers::Awaited() const {
  std::vector<NodeId> awaited;
  for (const Member& member : members_->table().all()) {
    const bool is_there = member.is_member && member.state != MemberState::kLeft;
    if (is_there && member.barriers_before <= barrier_.next()) awaited.push_back(member.id);
  }
  return awaited;
}

void JobBarriers::SendRelease(NodeId node, uint64_t barrier) {
  const uint64_t before = members_->table().Find(node).barriers_before;
  if (barrier >= before) members_->SendTo(node, BarrierReleased{job_->term(), barrier - before});
}

}  // namespace banyan
