// The starts of nodes that want to become members of a running job: each waits for the next epoch, and one that
// contests the place of a member also for that member's end. Thread-compatible; owned by JobMembers.
//
// Invariants:
// - At most one start of a node waits.
#ifndef BANYAN_SCHEDULER_MEMBERS_WAITING_JOINS_H_
#define BANYAN_SCHEDULER_MEMBERS_WAITING_JOINS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/ids.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class WaitingJoins {
 public:
  struct Entry {
    ConnectionId connection;
    Join join;
  };

  // Adds a start, or notes its new connection. False when another start of the node waits already.
  bool Add(NodeId node, ConnectionId connection, const Join& join);
  // Forgets the start that waits on this connection; returns its node if there was one.
  std::optional<NodeId> Drop(ConnectionId connection);
  std::optional<Entry> Take(NodeId node);
  bool Contains(NodeId node) const { return entries_.count(node) > 0; }
  // Returns the nodes of which a start waits, in rising order.
  std::vector<NodeId> Nodes() const;
  size_t size() const { return entries_.size(); }

 private:
  std::map<NodeId, Entry> entries_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_WAITING_JOINS_H_
