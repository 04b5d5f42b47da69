#include "scheduler/rounds/job_barriers.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

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
  std::vector<NodeId> awaited = Participants();
  std::vector<NodeId> left_out;
  std::erase_if(awaited, [&](NodeId node) {
    const bool is_left_out = is_fetching_(node) && barrier_.entered().count(node) == 0;
    if (is_left_out) left_out.push_back(node);
    return is_left_out;
  });
  const uint64_t barrier = barrier_.next();
  if (!barrier_.Release(awaited)) return;
  for (const NodeId node : left_out) members_->LeaveOutOfBarrier(node);
  context_->Persist(BarrierRecord{barrier, std::move(left_out)});
  for (const NodeId node : members_->table().Members()) SendRelease(node, barrier);
}

std::vector<NodeId> JobBarriers::Missing() const {
  std::vector<NodeId> missing;
  if (barrier_.entered().empty()) return missing;
  for (const NodeId node : Participants()) {
    if (barrier_.entered().count(node) == 0) missing.push_back(node);
  }
  return missing;
}

std::vector<NodeId> JobBarriers::Participants() const {
  std::vector<NodeId> participants;
  for (const Member& member : members_->table().all()) {
    const bool is_there = member.is_member && member.state != MemberState::kLeft;
    if (is_there && member.barriers_before <= barrier_.next()) participants.push_back(member.id);
  }
  return participants;
}

void JobBarriers::SendRelease(NodeId node, uint64_t barrier) {
  const uint64_t before = members_->table().Find(node).barriers_before;
  if (barrier >= before) members_->SendTo(node, BarrierReleased{job_->term(), barrier - before});
}

}  // namespace banyan
