// The conversation with nodes about who belongs to the job: answers joins and heartbeats, tells every node when the
// membership has changed, and notices who has fallen silent. Whoever wants to join a running job waits for the next
// epoch. Thread-compatible; owned by the core.
//
// Invariants:
// - A node's record is durable before the node hears that it has joined.
// - Changes within kMembershipBatch of each other are told with one update.
#ifndef BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_
#define BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/message.h"
#include "proto/scheduler_messages.h"
#include "protocol/event.h"
#include "scheduler/job_state.h"
#include "scheduler/members/access_roster.h"
#include "scheduler/members/membership.h"
#include "scheduler/scheduler_context.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// The starts of nodes that want to become members of a running job: each waits for the next epoch, and one that
// contests the place of a member also for that member's end. Thread-compatible; owned by JobMembers.
//
// A node that is restarted twice within a moment leaves a start that waits and is dead, and nobody knows that yet. So
// several starts of it may wait; the newest is the first to get the place, and the others contest it.
//
// Invariants:
// - At most kMostWaitingStarts starts of a node wait.
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

// Returns what is wrong with the address that `join` advertises, before anybody waits for somebody there, and what to
// do; empty when nothing is. Names are not looked up. `host` is where
// the join comes from, a number, or empty when that is not known. `members` and `overlay` are those of the job.
//
// An address that leads each machine to itself is wrong where the join comes from another machine and the overlay has
// another address for the node. An address that another member or a scheduler has is wrong in any case.
std::string AddressFault(const Join& join, const std::string& host, const Membership& members,
                         const OverlayConfig& overlay);

class JobMembers {
 public:
  // `start` is this start of the scheduler. The pointers must outlive this.
  JobMembers(const OverlayConfig* overlay, const JobState* job, StartId start, SchedulerContext* context);

  // Notes from where a connection comes. Closes the oldest of too many that are no node's.
  void NoteOrigin(const ConnectionAccepted& accepted);
  // Lets in the owners of the keys that count now, and nobody else, and tells the nodes each other's. To be called
  // when the overlay or who belongs to the job has changed.
  void PublishKeys();
  // Answers `join`: a refusal, or the node's configuration and then what the node must know of the job. A start that
  // waits for the next epoch gets no answer yet.
  JoinVerdict Join(ConnectionId connection, const banyan::Join& join);
  // Takes the newest start of the node that waits into the job, as a member from this epoch on. Its record is made, and
  // it hears nothing before Welcome. False when none waits.
  bool Admit(NodeId node, Epoch epoch, uint64_t barriers_before);
  // The member leaves out one more barrier of the job.
  void LeaveOutOfBarrier(NodeId node) { membership_.LeaveOutOfBarrier(node); }
  // Tells a start that was admitted that it has joined.
  void Welcome(NodeId node);
  // The member is none any more. PublishKeys is to follow.
  void Expel(NodeId node);
  // Returns the newest start of the node that waits, if one does, and forgets it.
  std::optional<WaitingJoins::Entry> TakeWaiting(NodeId node) { return waiting_.Take(node); }
  // Refuses all starts of the node that wait.
  void RefuseWaiting(NodeId node, std::string reason);
  // Likewise, since another start of it is alive.
  void RefuseContesters(NodeId node);
  // The job is over: tells all, also those who have finished, that nothing is left to do.
  void End();
  // The job has failed, or was stopped: tells members, and those who wait to become some.
  void Fail();
  // Tells the node that the job is over, if it is. True when it is.
  bool AnswerOver(NodeId node);
  // Tells a start that has fallen out so, if this is its connection. True when it is.
  bool AnswerFallen(ConnectionId connection);
  // An operator takes the node out of the job: its key counts no more, and no start of it may join. Durable.
  void Remove(NodeId node);
  // Lets all nodes in again that were removed. Returns their names. Durable.
  std::vector<std::string> LetRemovedIn();
  void SetWorkerless(NodeId node, bool has_values) { membership_.SetWorkerless(node, has_values); }
  // Takes how many workers a node says are attached to it. True when one has come since the node has left, and the job
  // is over: it is told so, since nobody else will answer that worker.
  bool NoteWorkers(NodeId node, uint32_t attached);
  // Returns whether the overlay lists the connection's key as that of an operator; true without keys.
  bool IsOperator(ConnectionId connection) const;
  // Takes nodes that were added to the overlay. PublishKeys is to follow.
  void AddNodes();
  // Notes that the node is alive. True when it had been silent and counts again.
  bool Hear(NodeId node) { return membership_.Hear(context_->now, node); }
  void AnswerHeartbeat(NodeId node, const Heartbeat& heartbeat);
  // Returns whose connection it was, if it was that of a node.
  std::optional<NodeId> Disconnect(ConnectionId connection);
  // Notes that the node goes on purpose.
  void Leave(NodeId node, bool is_asked_for);
  // Makes those who have joined the members of the first epoch.
  void Start() { membership_.Start(job_->epoch()); }
  // Notes whether the start waits for more nodes than start_with.
  void SetNeedsMore(bool needs_more) { membership_.SetNeedsMore(needs_more); }
  // Tells all nodes at once where the job stands.
  void SendUpdate();

  // Takes what records say of a node; `is_spent` when its last start belonged to a job that has ended.
  void Restore(const NodeRecord& record, bool is_spent);
  void RestoreRemoved(NodeId node) { membership_.SetRemoved(node, true); }
  // Expects these members of a running job to come back.
  void RestoreStarted(const std::vector<EpochMember>& members) { membership_.RestoreStarted(context_->now, members); }

  // Promises all nodes an update of the membership, kMembershipBatch from now at the latest.
  void ScheduleUpdate();
  // Sends the promised update when it is due.
  void SendDueUpdate();
  // Returns the nodes that have just become silent, in rising order.
  std::vector<NodeId> TakeSilent();
  // Says that nothing was heard from them for too long.
  std::string DescribeSilence(const std::vector<NodeId>& nodes) const;
  // When SendDueUpdate or TakeSilence has something to do; kNever when neither has.
  Timestamp NextDeadline() const;

  // Sends to a node if it is connected, after all records so far are durable.
  void SendTo(NodeId node, Message message);
  void Broadcast(const Message& message);
  // Counts a message that the node sent in vain, and says why.
  void Reject(NodeId node, const std::string& why);

  const Membership& table() const { return membership_; }
  const WaitingJoins& waiting() const { return waiting_; }
  const std::string& NameOf(NodeId node) const { return membership_.Find(node).name; }

 private:
  JoinVerdict Decide(ConnectionId connection, const banyan::Join& join);
  // Returns what is wrong with the key of a start that was never accepted; empty when nothing is.
  std::string KeyFault(ConnectionId connection, NodeId node) const;
  // Tells all who wait how the job has ended.
  void RefuseAllWaiting();
  void Refuse(ConnectionId connection, const JoinVerdict& refusal);
  // Tells a node that has finished that all others have, too.
  void SendJobOver(ConnectionId connection);
  void LetWait(ConnectionId connection, const banyan::Join& join, NodeId node);
  void Welcome(ConnectionId connection, const Member& member, bool is_first_join);
  MembershipUpdate MakeUpdate() const;
  void PersistNode(const Member& member);

  const OverlayConfig* overlay_;
  const JobState* job_;
  StartId start_;
  SchedulerContext* context_;
  Membership membership_;
  WaitingJoins waiting_;
  struct Origin {
    std::string host;
    std::string public_key;
  };
  Origin OriginOf(ConnectionId connection) const;
  std::map<ConnectionId, Origin> origins_;  // of nodes, and of the newest kMostOrigins other connections
  AccessRoster roster_;
  std::optional<Timestamp> update_due_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_
