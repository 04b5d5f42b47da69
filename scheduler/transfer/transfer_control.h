// Lets the core run transfers of training states: hands messages to StateTransfer, sends what it says, and has an epoch
// begin when it asks for one. Thread-compatible; owned by the core.
#ifndef BANYAN_SCHEDULER_TRANSFER_TRANSFER_CONTROL_H_
#define BANYAN_SCHEDULER_TRANSFER_TRANSFER_CONTROL_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/state_messages.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/policy/published_policies.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"
#include "scheduler/transfer/state_transfer.h"
#include "topology/policy.h"

namespace banyan {

// Returns, for each node that `from` can reach, a path to it with both ends, with the fewest hops, over nodes that have
// connections with each other under this policy. The path to `from` itself is `from` alone. Ties go to lower ids.
std::map<NodeId, std::vector<NodeId>> PathsFrom(NodeId from, const Policy& policy);

class TransferControl {
 public:
  // The parts of the core that a transfer concerns. All must outlive this.
  struct Parts {
    const JobState* job = nullptr;
    JobMembers* members = nullptr;
    const PublishedPolicies* policies = nullptr;
    const KeyTable* keys = nullptr;
    const JobRounds* rounds = nullptr;
    bool nodes_have_parameters = false;  // with a server-side optimizer
    SchedulerContext* context = nullptr;
  };
  // Begins an epoch with the same members, unless one is under way; takes the reason.
  using BeginEpoch = std::function<void(const std::string&)>;

  TransferControl(Parts parts, BeginEpoch begin_epoch) : parts_(parts), begin_epoch_(std::move(begin_epoch)) {}

  void On(NodeId node, const StateWanted& message) {
    message.of_replica ? SendPaths(node) : Apply(transfer().OnWanted(node, message));
  }
  void On(NodeId node, const BoundaryHeld& message) { Apply(transfer().OnHeld(now(), node, message)); }
  void On(NodeId node, const NoState& message) { Apply(transfer().OnNoState(node, message)); }
  void On(NodeId node, const FetchEnded& message) { Apply(transfer().OnFetchEnded(node, message)); }
  // The node has said all this again, or has never said it, on a new connection.
  void OnRejoined(NodeId node) {
    if (transfer_ != nullptr) Apply(transfer_->OnRejoined(node));
  }
  void OnDeadline() {
    if (transfer_ != nullptr) Apply(transfer_->OnDeadline(now()));
  }
  Timestamp NextDeadline() const { return transfer_ == nullptr ? kNever : transfer_->NextDeadline(); }

  // Membership has changed, or a member has left.
  void OnMembersChanged();
  // The plan of an epoch has gone to all members.
  void OnEpochPlanned() {
    lacking_.clear();
    if (transfer_ != nullptr) Apply(transfer_->OnEpochPlanned());
  }

  bool IsFetching(NodeId node) const { return transfer_ != nullptr && transfer_->IsFetching(node); }
  // Says, for status, who fetches and what it waits for; empty while nobody does.
  std::string Describe() const { return transfer_ == nullptr ? "" : transfer_->Describe(); }

 private:
  Timestamp now() const { return parts_.context->now; }
  // Made at its first use, when the term is known for good.
  StateTransfer& transfer();
  void Apply(StateTransfer::Outcome outcome);
  // Says to which round the job has trained; empty when only nodes keep what it trains, or no key has values.
  std::string DescribeProgress() const;
  // Returns paths from the node to all others that it can reach under the current policy.
  std::map<NodeId, std::vector<NodeId>> PathsOf(NodeId node) const;
  // Tells a node that lacks replicas how it reaches the other members. When some have left, and those who are here have
  // all asked the same, begins an epoch.
  void SendPaths(NodeId node);

  Parts parts_;
  BeginEpoch begin_epoch_;
  std::unique_ptr<StateTransfer> transfer_;
  std::set<NodeId> lacking_;  // have asked for replicas in this epoch
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_TRANSFER_TRANSFER_CONTROL_H_
