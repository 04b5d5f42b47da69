// Decides how the membership of a running job changes: collects why it must, and says when an epoch begins, and when it
// goes on because all its members have said what they hold and there is a plan for them. EpochConductor carries that
// out. Thread-compatible; owned by the core.
//
// Invariants:
// - One change is under way at most. A cause that comes up meanwhile begins the next epoch, which replaces it.
// - Nobody has to answer what has not left: a member's time to say what it holds counts from when EpochBegin is
//   durable, and while the storage of the state stands, or for lost_after from then on, nobody is judged by silence.
// - With fewer members than membership.least, or without a plan, the change waits. It never fails the job.
// - Once a round is closed, a member that is heard and to which no link leads any more from most others falls out, and
//   waits to join until its links are tried again. Where no part is more than half of the members all wait for that.
#ifndef BANYAN_SCHEDULER_EPOCHS_EPOCH_CHANGER_H_
#define BANYAN_SCHEDULER_EPOCHS_EPOCH_CHANGER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/scheduler_messages.h"
#include "scheduler/epochs/departure.h"
#include "scheduler/epochs/epoch_conductor.h"
#include "scheduler/epochs/epoch_history.h"
#include "scheduler/epochs/epoch_reports.h"
#include "scheduler/epochs/suspicions.h"
#include "scheduler/job_state.h"
#include "scheduler/members/job_members.h"
#include "scheduler/members/node_reports.h"
#include "scheduler/policy/policy_control.h"
#include "scheduler/rounds/job_rounds.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/scheduler_context.h"
#include "topology/overlay/overlay_config.h"

namespace banyan {

// Collects why membership must change: who falls out, and what else makes a new epoch. Causes that come within
// kMembershipBatch of the first are one change. Time is handed in. Thread-compatible; owned by EpochChanger.
class ChangeCauses {
 public:
  struct Causes {
    Timestamp since;  // of the first
    std::set<NodeId> fallen;
    std::vector<std::string> reasons;  // in the order in which they came, each once

    // One text for logs, nodes and operators.
    std::string Describe() const;
  };

  // Notes that the member is gone because of `why`.
  void FallOut(Timestamp now, NodeId node, const std::string& why);
  // Notes that the member is missed because of `why`, and falls out unless it returns before.
  void Miss(Timestamp now, NodeId node, const std::string& why);
  // A member that was missed is back, and stays; nothing for others.
  void Return(NodeId node);
  // Notes another reason, which makes nobody fall out.
  void Add(Timestamp now, const std::string& why);

  bool IsFalling(NodeId node) const { return causes_.has_value() && causes_->fallen.count(node) > 0; }
  // When Take has causes to give; kNever without one.
  Timestamp NextDeadline() const;
  // Returns all causes when they are due.
  std::optional<Causes> Take(Timestamp now);
  // Returns all causes now.
  std::optional<Causes> TakeAll();
  void Clear() { TakeAll(); }

 private:
  std::optional<Causes> causes_;
  std::map<NodeId, std::string> missed_;  // of those that fall, and why
};

// Which nodes have said that no worker of theirs speaks for them, so that the log has it once. Thread-compatible; owned
// by EpochChanger.
//
// Invariants:
// - A node says so again with each report that it sends while that is so: a report without it ends the state.
class LostWorkers {
 public:
  // Notes what a node says; true when that is new.
  bool Note(NodeId node, const std::string& what) {
    Said& said = said_[node];
    said.is_said_again = true;
    return std::exchange(said.what, what) != what;
  }
  // Notes a report, which comes before what it leads to.
  void OnReport(NodeId node) {
    const auto said = said_.find(node);
    if (said == said_.end()) return;
    if (!std::exchange(said->second.is_said_again, false)) said_.erase(said);
  }
  void Forget(NodeId node) { said_.erase(node); }

 private:
  struct Said {
    std::string what;
    bool is_said_again = false;  // since the last report
  };

  std::map<NodeId, Said> said_;
};

class EpochChanger {
 public:
  // What it decides by, and what carries it out. All must outlive this.
  struct Parts {
    const OverlayConfig* overlay = nullptr;
    const JobState* job = nullptr;
    const NodeReports* reports = nullptr;
    const KeyTable* keys = nullptr;
    const JobRounds* rounds = nullptr;
    JobMembers* members = nullptr;
    PolicyControl* policies = nullptr;
    EpochConductor* conductor = nullptr;
    SchedulerContext* context = nullptr;
  };
  explicit EpochChanger(Parts parts);

  // Begins the first epoch, of the nodes that have joined, with the policy of `decision`.
  void Start(PlanDecision decision);
  // Goes on after a restart of the scheduler: `planned` is the last epoch that has a plan. A change that was under way
  // begins anew.
  void Resume(Epoch planned);

  // Before the start: judges those who claim the place of another start. Returns whose place is free.
  std::vector<NodeId> TakeReplaced();

  // Causes. REQUIRES: the job runs.

  // A start that is no member asks to become one, or, before the start of the job too, contests a place.
  void OnJoin(const JoinVerdict& verdict);
  void OnDisconnected(NodeId node);
  // A member has left on purpose.
  void OnLeave(NodeId node, const std::string& why, bool is_asked_for);
  // A member cannot reach its neighbour.
  void OnPeerLost(NodeId node, const PeerLost& message);
  // The last worker of a member has died. `has_values`: the member still has what it gave to open broadcasts.
  void OnWorkerLost(NodeId node, const std::string& why, bool has_values);
  void OnNodeReport(NodeId node);
  // A member cannot go on with the others, or they cannot with it: it falls out, and hears why. When that is so of all
  // the job has failed.
  void Exclude(NodeId node, const std::string& why);
  // A member cannot finish a round, of which others may say the same: a little later whoever two members blame falls
  // out, else the member that cannot finish it. The job has failed where nobody can tell who is right: between two
  // members, or when most cannot finish the same round.
  void OnRoundBroken(NodeId node, const RoundBroken& broken, const std::string& why);
  // The same members are to begin an epoch. One that is on its way to its plan will do.
  void Change(const std::string& why);

  // An operator wants a node to go. Returns the answer, at any time.
  OperatorReply Remove(const RemoveNode& order);

  // The change.

  void OnDeadline();
  // Records have become durable, after the storage has stood for `stood`.
  void OnDurable(absl::Duration stood);
  Timestamp NextDeadline() const;
  void OnEpochReport(NodeId node, const EpochReport& report);
  // A plan for an epoch was made, or could not be made.
  void OnPlan(PlanDecision decision);
  // Tells a member that has joined again where the epoch stands.
  void SendState(NodeId node);

  // How the job ends, once no members can go on: OK where nobody is left who trains and some member has finished its
  // work, else why it has failed.
  const std::optional<absl::Status>& end() const { return end_; }
  bool is_changing() const { return parts_.rounds->is_frozen(); }
  // Says for what the change under way waits, or that no member is heard; empty when neither is so.
  std::string WaitsFor() const;
  const std::string& reason() const { return reason_; }
  const EpochHistory& history() const { return history_; }
  const EpochReports& epoch_reports() const { return epoch_reports_; }

 private:
  Timestamp now() const { return parts_.context->now; }
  const Membership& table() const { return parts_.members->table(); }
  struct Broken {
    RoundBroken broken;
    std::string why;
    bool is_judged = false;
  };
  static bool BlamesAnother(NodeId node, const RoundBroken& broken) {
    return broken.culprit != NodeId() && broken.culprit != node;
  }
  void JudgeBrokenRounds();
  // Returns whether the node is a member that goes on for all that is known.
  bool IsInGoodStanding(NodeId node) const {
    return table().Contains(node) && table().Find(node).is_member && excluded_.count(node) == 0;
  }
  // Returns whether rounds have gone through an optimizer, and no member has what it keeps.
  bool HasLostReplicas() const;
  // Nobody can go on: the job is over if some member has finished its work, and has failed else.
  void OnLostReplicas();
  // Has nobody judged for a while if the storage has stood for so long that members may have waited for it.
  void NoteStanding(absl::Duration stood);
  void TakeSilence();
  void TakeSuspicions();
  // Refuses those who claim the place of a node that was heard.
  void RefuseContesters(const std::vector<NodeId>& defended);
  // Whether an operator's order waits for the plan of this epoch, while no member is heard whose report the plan needs.
  bool HasOrderWhileDeaf() const;
  // Puts such an order into force without a plan.
  void AnswerWhileDeaf();
  void TakeUnreported();
  std::string DescribeDeafness() const;
  void CheckDeparture(NodeId node);
  // Returns whether the job is over when these members fall out.
  bool IsOver(const std::set<NodeId>& fallen) const;
  // Returns those of the members, without `fallen`, and of those who wait to join, to whom only links lead from most
  // others that do not work.
  std::set<NodeId> CutOff(const std::set<NodeId>& fallen) const;
  // Has members fall out that are cut off, and those wait on who are and wait to join.
  void LeaveOutCutOff(ChangeCauses::Causes& causes);
  // Lets those in who waited for links that have returned.
  void LetHeldBackIn();
  void Begin(const ChangeCauses::Causes& causes);
  void Plan();
  void FinishIfReady();
  void Finish(PlanDecision decision);

  Parts parts_;
  Suspicions suspicions_;
  ChangeCauses causes_;
  Departure departure_;
  LostWorkers lost_workers_;
  EpochReports epoch_reports_;
  EpochHistory history_;
  std::optional<absl::Status> end_;
  std::set<NodeId> excluded_;        // of the members
  std::set<NodeId> held_back_;       // wait to join until their links are tried again
  std::map<NodeId, Broken> broken_;  // what each node has said last of a round that it cannot finish
  Timestamp verdict_due_ = kNever;   // on those of them that are not judged
  Epoch planned_epoch_;
  std::string reason_;                    // of the last change
  Timestamp began_because_;               // when the first cause of the change under way came up
  std::optional<RecordId> begin_record_;  // after which EpochBegin leaves; none when it has left
  Timestamp report_due_ = kNever;
  std::optional<PlanDecision> decision_;  // that waits for reports
  bool must_plan_ = false;  // once all have reported: the plan was dropped for an order that could not wait for them
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_EPOCH_CHANGER_H_
