// The starts of nodes that want to become members of a running job: each waits for the next epoch, and one that
// contests the place of a member also for that member's end. Thread-compatible; owned by JobMembers.
//
// A node that is restarted twice within a moment leaves a start that waits and is dead, and nobody knows that yet. So
// several starts of it may wait; the newest is the first to get the place, and the others contest it.
//
// Invariants:
// - At most kMostWaitingStarts starts of a node wait.
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

  // Adds a start, or notes its new connection. Returns the oldest start of the node if it has to make room.
  std::optional<Entry> Add(NodeId node, ConnectionId connection, const Join& join);
  // Forgets the start that waits on this connection; returns its node if there was one.
  std::optional<NodeId> Drop(ConnectionId connection);
  // Returns the newest start of the node that waits, if one does, and forgets it.
  std::optional<Entry> Take(NodeId node);
  // Returns whether a start waits on the connection.
  bool Has(ConnectionId connection) const;
  // Returns the connections of the node's starts.
  std::vector<ConnectionId> ConnectionsOf(NodeId node) const;
  bool Contains(NodeId node) const { return entries_.count(node) > 0; }
  // Returns the nodes of which a start waits, in rising order.
  std::vector<NodeId> Nodes() const;
  // How many starts wait.
  size_t size() const;

 private:
  std::map<NodeId, std::vector<Entry>> entries_;  // in the order in which they came; none is empty
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_WAITING_JOINS_H_
