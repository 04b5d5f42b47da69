// The conversation with nodes about who belongs to the job: answers joins and heartbeats, tells every node when the
// membership has changed, and notices who has fallen silent. Thread-compatible; owned by the core.
//
// Invariants:
// - A node's record is durable before the node hears that it has joined.
// - Changes within kMembershipBatch of each other are told with one update.
#ifndef BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_
#define BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_

#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/message.h"
#include "proto/scheduler_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/membership.h"
#include "scheduler/scheduler_context.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

class JobMembers {
 public:
  // `start` is this start of the scheduler. The pointers must outlive this.
  JobMembers(const OverlayConfig* overlay, const JobState* job, StartId start, SchedulerContext* context);

  // Answers `join`: a refusal, or the node's configuration and then what the node must know of the job. The verdict
  // says kMemberRestarted when the running job cannot go on.
  JoinVerdict Join(ConnectionId connection, const banyan::Join& join);
  // Notes that the node is alive. True when it had been silent and counts again.
  bool Hear(NodeId node) { return membership_.Hear(context_->now, node); }
  void AnswerHeartbeat(NodeId node, const Heartbeat& heartbeat);
  void Disconnect(ConnectionId connection) { membership_.Disconnect(connection); }
  // Notes that the node goes on purpose.
  void Leave(NodeId node) { membership_.Leave(node); }
  // Fixes the members, and tells all nodes at once that the job runs.
  void Start();

  // Takes what records say of a node; `is_spent` when its last start belonged to a job that has ended.
  void Restore(const NodeRecord& record, bool is_spent);
  // Expects these members of a running job to come back.
  void RestoreStarted(const std::vector<NodeId>& members) { membership_.RestoreStarted(context_->now, members); }

  // Promises all nodes an update of the membership, kMembershipBatch from now at the latest.
  void ScheduleUpdate();
  // Sends the promised update when it is due.
  void SendDueUpdate();
  // Names the nodes that have just become silent; empty when there are none.
  std::optional<std::string> TakeSilence();
  // When SendDueUpdate or TakeSilence has something to do; kNever when neither has.
  Timestamp NextDeadline() const;

  // Sends to a node if it is connected, after all records so far are durable.
  void SendTo(NodeId node, Message message);
  void Broadcast(const Message& message);
  // Counts a message that the node sent in vain, and says why.
  void Reject(NodeId node, const std::string& why);

  const Membership& table() const { return membership_; }
  const std::string& NameOf(NodeId node) const { return membership_.Find(node).name; }

 private:
  JoinVerdict Decide(ConnectionId connection, const banyan::Join& join);
  void Refuse(ConnectionId connection, std::string reason);
  void Welcome(ConnectionId connection, const Member& member, bool is_first_join);
  MembershipUpdate MakeUpdate() const;

  const OverlayConfig* overlay_;
  const JobState* job_;
  StartId start_;
  SchedulerContext* context_;
  Membership membership_;
  std::optional<Timestamp> update_due_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_JOB_MEMBERS_H_
