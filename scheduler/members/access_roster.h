// Whose keys count in the job: those that the overlay lists, and former ones of nodes that have not come with their new
// one yet. Pure. Thread-compatible; owned by JobMembers.
//
// Invariants:
// - The newest key of each node is listed; a former one is too, until the node has joined with the newest.
// - A key belongs to one name: ParseOverlay refuses others.
#ifndef BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_
#define BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_

#include <map>
#include <string>
#include <vector>

#include "core/ids.h"
#include "proto/access_list.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class AccessRoster {
 public:
  // Takes the keys of `overlay`. Returns whether they differ from those before.
  bool Update(const OverlayConfig& overlay);
  // Notes that `node` has come with `public_key`, empty for none. Returns whether former keys of it count no more.
  bool OnJoined(NodeId node, const std::string& public_key);

  // Returns the keys of all, empty where the overlay lists none.
  std::vector<ListedKey> All() const;
  // Returns the keys of nodes, of each the newest first.
  const std::vector<ListedKey>& OfNodes() const { return nodes_; }

 private:
  std::vector<ListedKey> nodes_;  // by node, of each the newest first
  std::vector<ListedKey> people_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_ACCESS_ROSTER_H_
