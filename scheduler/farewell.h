// When the scheduler of a job that is over may end: once its nodes have heard of it and gone, or have had the time for
// that. Whoever asks for the status meanwhile gets an answer. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_FAREWELL_H_
#define BANYAN_SCHEDULER_FAREWELL_H_

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "scheduler/members/membership.h"

namespace banyan {

class Farewell {
 public:
  // So long the end can be seen after the last node has gone: one whose connection only broke is back within it.
  static constexpr absl::Duration kLeast = absl::Seconds(2);

  // Waits for nodes for `patience`.
  explicit Farewell(absl::Duration patience) : patience_(std::max(patience, kLeast)) {}

  // The job is over. Only the first call counts. `expects_others`: nodes may come yet that have to hear of it.
  void Begin(Timestamp now, bool expects_others = false) {
    if (latest_.has_value()) return;
    latest_ = now + patience_;
    earliest_ = expects_others ? *latest_ : now + kLeast;
  }
  // Notes that the connection of the node has ended.
  void OnDisconnected(Timestamp now, NodeId node) {
    if (!latest_.has_value()) return;
    gone_.insert(node);
    earliest_ = now + kLeast;
  }
  bool IsDue(Timestamp now, const Membership& members) const {
    if (!latest_.has_value()) return false;
    return now >= *latest_ || (now >= earliest_ && !IsAwaited(members));
  }
  // Returns when IsDue wants to be asked, unless a connection ends before; kNever before Begin.
  Timestamp NextDeadline(Timestamp now) const {
    if (!latest_.has_value()) return kNever;
    return now < earliest_ ? std::min(earliest_, *latest_) : *latest_;
  }

 private:
  // Returns whether some node is connected still, or was not when the job ended and may come back.
  bool IsAwaited(const Membership& members) const {
    const std::vector<Member>& all = members.all();
    return std::any_of(all.begin(), all.end(), [this](const Member& member) {
      const bool may_come = member.is_member && member.state != MemberState::kLeft && gone_.count(member.id) == 0;
      return member.connection.has_value() || may_come;
    });
  }

  const absl::Duration patience_;
  std::optional<Timestamp> latest_;
  Timestamp earliest_;
  std::set<NodeId> gone_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_FAREWELL_H_
