// What speaks against members of the running job, until it is known whether it is true: a connection that went down, a
// neighbour's complaint, another start that claims the place. Time is handed in. Thread-compatible; owned by
// EpochChanger.
//
// Invariants:
// - Nothing is judged before suspect_after: a member that is only reconnecting, or a stranger's packet, costs nobody
// his
//   place.
// - A complaint about a member that is not heard itself is the end of the member, and none of a link.
#ifndef BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_
#define BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_

#include <map>
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

  // Notes that the member's connection went down.
  void NoteDown(Timestamp now, NodeId node);
  // Notes that another start wants the place of a member that was heard lately.
  void NoteContest(Timestamp now, NodeId node);
  // Notes that `from` cannot reach its neighbour `about`.
  void NoteComplaint(Timestamp now, NodeId from, NodeId about, std::string what);
  // Another epoch begins: its members complain anew of what is still wrong.
  void ForgetComplaints() { complaints_.clear(); }

  // Judges what is due.
  Findings Take(Timestamp now);
  // When Take has something to do; kNever when nothing is suspected.
  Timestamp NextDeadline() const;

 private:
  struct Complaint {
    Timestamp since;
    Timestamp due;
    std::string what;
  };

  bool IsHere(NodeId node) const;
  void TakeDown(Timestamp now, Findings& findings);
  void TakeContests(Timestamp now, Findings& findings);
  void TakeComplaints(Timestamp now, Findings& findings);

  const Membership* members_;
  std::map<NodeId, Timestamp> down_;      // since when
  std::map<NodeId, Timestamp> contests_;  // since when
  std::map<std::pair<NodeId, NodeId>, Complaint> complaints_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_SUSPICIONS_H_
