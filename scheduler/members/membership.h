// The table of the overlay's nodes: which of them have joined, under which incarnation and on which connection, and
// which have been silent too long. Thread-compatible; owned by JobMembers.
//
// Invariants:
// - NodeIds are positions in the overlay, from 1, and never change.
// - Before the job starts nodes come and go. After that its members change only with an epoch: by Expel and Admit.
// - A member is one start of its node. A start that has fallen out never becomes a member again.
// - A connection belongs to one node, and a node has one connection at most.
#ifndef BANYAN_SCHEDULER_MEMBERS_MEMBERSHIP_H_
#define BANYAN_SCHEDULER_MEMBERS_MEMBERSHIP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/state/state_record.h"

namespace banyan {

enum class MemberState : uint8_t {
  kAbsent,    // never seen, or gone before the job started
  kExpected,  // a member of a running job that has not come back since the scheduler's restart
  kJoined,
  kSilent,  // no heartbeat for lost_after; a member of a running job falls out when others are heard
  kLeft,    // on purpose; a member until the next epoch
  kOut,     // was a member, and is none any more
};

struct Member {
  NodeId id;
  std::string name;
  std::string address;  // of the last join
  std::string version;  // likewise, of Banyan; empty when it did not say
  Incarnation incarnation;
  std::string public_key;  // with which this incarnation was let in; empty: without keys, or not known
  MemberState state = MemberState::kAbsent;
  std::optional<ConnectionId> connection;
  Timestamp last_heard;
  bool is_member = false;          // of the started job's epoch
  bool is_removed = false;         // by an operator, whatever its state is: no start of it may join
  bool is_spent = false;           // this incarnation belonged to a job that has ended
  bool has_left_for_good = false;  // its work is done: it has left, and nobody has asked for that
  bool is_workerless = false;      // its last worker has died
  bool has_values = false;         // if so: what its workers gave to broadcasts that are open
  bool has_late_worker = false;    // one has come since it has left for good
  bool has_had_workers = false;    // or may have: it has joined later, or is of an earlier start of the scheduler
  // Of a member:
  Epoch joined_in;
  uint64_t barriers_before = 0;

  // How little it has to say in broadcasts that are open. Only those with 0 have something to say in later ones.
  int Silence() const { return !is_workerless ? 0 : has_values ? 1 : 2; }
};

struct JoinVerdict {
  enum class Kind : uint8_t {
    kRefused,
    kAccepted,
    kWaits,     // the start becomes a member with the next epoch, and hears of it then
    kContests,  // the same once the start that is a member has fallen out
  };
  Kind kind = Kind::kRefused;
  NodeId node;                   // unless refused
  bool new_incarnation = false;  // accepted for the first time with this incarnation or address
  bool fell_out = false;         // refused: a start that was a member and is none any more
  bool job_is_over = false;      // refused: all members have finished their work
  std::string reason;            // of a refusal
};

class Membership {
 public:
  struct Options {
    std::string job;
    std::vector<std::string> names;  // in order of NodeId
    size_t start_with = 0;           // REQUIRES: 1 <= start_with <= names.size()
    absl::Duration heartbeat;
    absl::Duration lost_after;
    absl::Duration suspect_after;  // a member without a connection falls out
  };
  explicit Membership(Options options);

  // `public_key`: with which the connection was let in, empty without keys.
  JoinVerdict Join(Timestamp now, ConnectionId connection, const banyan::Join& join,
                   const std::string& public_key = {});
  // Returns whether this very start of the node has been accepted before.
  bool Knows(const banyan::Join& join) const;
  // Returns whether this very start of the node is a member whose work is done.
  bool HasFinished(const banyan::Join& join) const;
  // Returns whether this start has been accepted before, or records say that it has been.
  bool Remembers(const banyan::Join& join) const;
  // Notes a sign of life, which any message is. True when the node had been silent and is back.
  bool Hear(Timestamp now, NodeId node);
  // Returns whose connection it was, if it was that of a node.
  std::optional<NodeId> Disconnect(ConnectionId connection);
  // Notes that the node goes on purpose: before the start it is absent again, afterwards it has left. Its connection
  // stays.
  void Leave(NodeId node, bool is_asked_for);
  // Makes the joined nodes the members of the first epoch.
  void Start(Epoch epoch);
  // Notes whether the start waits for more nodes than start_with.
  void SetNeedsMore(bool needs_more) { needs_more_ = needs_more; }
  bool started() const { return started_; }
  // The member is none any more.
  void Expel(NodeId node);
  // Makes this start of the node a member from `epoch` on. `barriers_before`: that the job has passed.
  // REQUIRES: the job has started, and no start of the node is a member.
  void Admit(Timestamp now, ConnectionId connection, const banyan::Join& join, const std::string& public_key,
             Epoch epoch, uint64_t barriers_before);
  // The member leaves out one more barrier of the job.
  void LeaveOutOfBarrier(NodeId node) { ++At(node).barriers_before; }
  // Notes whether an operator keeps the node out.
  void SetRemoved(NodeId node, bool is_removed) { At(node).is_removed = is_removed; }
  // Notes that the last worker of the node has died, and whether the node has values of broadcasts that are open.
  void SetWorkerless(NodeId node, bool has_values);
  // Takes whether the node says that workers are attached to it.
  void NoteWorkers(NodeId node, bool has_workers);
  // Adds nodes at the end of the overlay.
  void AddNodes(const std::vector<std::string>& names);

  // Take state records read back: a node that was known, and the members of the running job. `is_spent`: this start of
  // the node belonged to a job that has ended, and cannot join another.
  void Restore(const NodeRecord& record, bool is_spent);
  void RestoreStarted(Timestamp now, const std::vector<EpochMember>& members);

  // Makes nodes kSilent that have not been heard for lost_after, and returns them. If the call is itself late it looks
  // once more, a heartbeat later: what the scheduler slept through is no silence of the nodes.
  std::vector<NodeId> TakeSilent(Timestamp now);
  // Returns when TakeSilent wants to be called.
  Timestamp NextCheck() const;

  std::optional<NodeId> NodeOn(ConnectionId connection) const;
  // Returns whether the connection is that of a start that has fallen out.
  bool IsOfFallen(ConnectionId connection) const { return fallen_connections_.count(connection) > 0; }
  std::optional<NodeId> FindByName(const std::string& name) const;
  // REQUIRES: 1 <= node <= size().
  const Member& Find(NodeId node) const { return members_[node.value() - 1]; }
  const std::vector<Member>& all() const { return members_; }
  // Returns whether this start of the node takes part: a member, or before the start one that has joined.
  bool IsIn(const Member& member) const { return started_ ? member.is_member : member.state == MemberState::kJoined; }
  bool Contains(NodeId node) const { return node.value() >= 1 && node.value() <= members_.size(); }
  size_t joined() const { return joined_; }
  // Returns whether the job has started and all its members have left because their work is done, but for those for
  // whom `is_helper` is true. One must have left.
  bool AllLeft(absl::FunctionRef<bool(const Member&)> is_helper) const;
  size_t start_with() const { return options_.start_with; }
  absl::Duration lost_after() const { return options_.lost_after; }
  absl::Duration suspect_after() const { return options_.suspect_after; }
  // A member of which nothing was heard for that long may be out of reach. Less than lost_after by two heartbeats, so
  // that it is true of all before the first of them counts as silent.
  absl::Duration quiet_after() const {
    return std::min(options_.suspect_after, options_.lost_after - 2 * options_.heartbeat);
  }
  // Returns the members in rising order; before the start the joined nodes.
  std::vector<NodeId> Members() const;
  std::vector<EpochMember> EpochMembers() const;
  // Returns the names of those that the job waits for, kMaxWaitingForNames at most.
  std::vector<std::string> WaitingFor() const;

 private:
  Member& At(NodeId node) { return members_[node.value() - 1]; }
  std::string CheckForm(const banyan::Join& join) const;
  // Decides on a start that is no member of the running job.
  JoinVerdict DecideLate(Timestamp now, const banyan::Join& join, const Member& member) const;
  JoinVerdict Accept(Timestamp now, ConnectionId connection, const banyan::Join& join, const std::string& public_key,
                     Member& member);
  // This start of the node will be no member any more.
  void FallOut(Member& member);
  void SetState(Member& member, MemberState state);
  void Watch(NodeId node, Timestamp check) { checks_.emplace(check, node); }

  Options options_;
  std::vector<Member> members_;  // by NodeId - 1
  std::map<std::string, NodeId> ids_;
  std::map<ConnectionId, NodeId> connections_;
  std::set<ConnectionId> fallen_connections_;
  std::vector<std::set<Incarnation>> fallen_;  // starts that were members, by NodeId - 1; kMostFallenKept at most each
  // One entry per node that may fall silent; its time is brought up to date only when it comes up.
  std::set<std::pair<Timestamp, NodeId>> checks_;
  std::vector<bool> is_watched_;  // by NodeId - 1
  size_t joined_ = 0;
  bool started_ = false;
  bool needs_more_ = false;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_MEMBERS_MEMBERSHIP_H_
