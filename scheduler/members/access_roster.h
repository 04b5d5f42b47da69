// Whose keys count in the job: those that the overlay lists, and the former key of a node that was let in with it and
// still takes part. Pure. Thread-compatible; owned by JobMembers.
//
// Invariants:
// - No key of a node that an operator has removed is listed.
// - A former key is listed as long as the start that was let in with it takes part, and no longer: it ends when a start
//   with the newest key takes its place, and when the node falls out.
// - A key belongs to one name: ParseOverlay refuses others.
#ifndef BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_
#define BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_

#include <vector>

#include "proto/access_list.h"
#include "scheduler/members/membership.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class AccessRoster {
 public:
  // Takes the keys of `overlay` for the nodes of `members`, which are those of the overlay. Returns whether they differ
  // from those before.
  bool Update(const OverlayConfig& overlay, const Membership& members);

  // Returns the keys of all, empty where the overlay lists none.
  std::vector<ListedKey> All() const;
  // Returns whether a former key of the node is listed.
  bool HasFormer(NodeId node) const;
  // Returns the keys of nodes, of each the newest first.
  const std::vector<ListedKey>& OfNodes() const { return nodes_; }

 private:
  std::vector<ListedKey> nodes_;  // by node, of each the newest first
  std::vector<ListedKey> people_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_
