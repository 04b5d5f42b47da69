// What speaks against members of the running job, until it is known whether it is true: silence, a connection that went
// down, a neighbour's complaint, another start that claims the place. Time is handed in. Thread-compatible; owned by
// EpochChanger.
//
// Invariants:
// - Nothing but silence for lost_after is judged before suspect_after: a member that is only reconnecting, or a
//   stranger's packet, costs nobody his place. A complaint is judged with an earlier one about the same member, so that
//   a member that no neighbour reaches does not cost an epoch for each.
// - While no member is heard nobody is gone: the likelier cause is the scheduler's own network. From when one is heard
//   again the others have lost_after to come back.
// - While the storage of the state stands nobody is gone either: what members wait for has not left.
// - A complaint about a member that is not heard itself is the end of the member, and none of a link.
#ifndef BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_
#define BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "scheduler/members/membership.h"

namespace banyan {

class Suspicions {
 public:
  struct Findings {
    std::map<NodeId, std::string> fallen;                   // who is gone, and why
    std::vector<NodeId> defended;                           // whose place another start claims in vain
    std::map<std::pair<NodeId, NodeId>, std::string> cuts;  // neighbours, the lower id first, and the complaint
  };

  // `members` must outlive this.
  explicit Suspicions(const Membership* members) : members_(members) {}

  // Notes that the member was silent for lost_after.
  void NoteSilent(Timestamp now, NodeId node, std::string what);
  // Notes that the member's connection went down.
  void NoteDown(Timestamp now, NodeId node);
  // Notes that another start wants the place of a member that was heard lately.
  void NoteContest(Timestamp now, NodeId node);
  // Notes that `from` cannot reach its neighbour `about`.
  void NoteComplaint(Timestamp now, NodeId from, NodeId about, std::string what);
  // The storage of the state stands, or has until now: members have lost_after to be heard.
  void NoteStanding(Timestamp now) { judged_from_ = std::max(judged_from_, now + members_->lost_after()); }
  // Another epoch begins: its members complain anew of what is still wrong.
  void ForgetComplaints() { complaints_.clear(); }

  // Judges what is due.
  Findings Take(Timestamp now);
  // When Take has something to do; kNever when nothing is suspected.
  Timestamp NextDeadline() const;
  // Returns whether members are missing, and none is heard.
  bool is_deaf() const { return deaf_since_.has_value(); }
  // Returns from when on those may be judged who are not heard; in the future while none is heard, and for a while
  // afterwards.
  Timestamp JudgedFrom(Timestamp now) const;

 private:
  struct Missing {
    Timestamp due;
    std::string what;
  };
  struct Complaint {
    Timestamp since;
    Timestamp due;
    std::string what;
  };

  bool IsHere(NodeId node) const;
  // Returns whether no member that is awaited was heard lately. Not when some have finished: the job is ending then,
  // and nobody needs what the others hold.
  bool HearsNobody(Timestamp now) const;
  Timestamp LastHeard() const;
  void TakeMissing(Timestamp now, Findings& findings);
  void TakeContests(Timestamp now, Findings& findings);
  void TakeComplaints(Timestamp now, Findings& findings);

  const Membership* members_;
  std::map<NodeId, Missing> missing_;
  std::optional<Timestamp> deaf_since_;  // or the last look since then
  Timestamp judged_from_;
  std::map<NodeId, Timestamp> contests_;  // since when
  std::map<std::pair<NodeId, NodeId>, Complaint> complaints_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_
