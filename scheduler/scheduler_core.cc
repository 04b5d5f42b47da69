#include "scheduler/scheduler_core.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/check.h"
#include "scheduler/job_config_maker.h"
#include "scheduler/peer_text.h"
#include "scheduler/plan_computation.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/status_report.h"
#include "topology/overlay_yaml.h"
#include "topology/planner_factory.h"
#include "topology/policy_check.h"

namespace banyan {
namespace {

std::vector<std::string> NodeNames(const OverlayConfig& overlay) {
  std::vector<std::string> names;
  for (const NodeConfig& node : overlay.nodes) names.push_back(node.name);
  return names;
}

Membership::Options MembershipOptions(const OverlayConfig& overlay) {
  Membership::Options options;
  options.job = overlay.job;
  options.names = NodeNames(overlay);
  options.start_with = overlay.membership.start_with.has_value() ? static_cast<size_t>(*overlay.membership.start_with)
                                                                 : overlay.nodes.size();
  options.heartbeat = overlay.membership.heartbeat;
  options.lost_after = overlay.membership.lost_after;
  return options;
}

}  // namespace

SchedulerCore::SchedulerCore(OverlayConfig overlay, SchedulerOptions options)
    : overlay_(std::move(overlay)),
      links_(MakeNetworkView(overlay_)),
      formulation_(overlay_.topology, overlay_.awareness),
      membership_(MembershipOptions(overlay_)),
      keys_(overlay_.chunks.max_elements),
      rounds_(&keys_, NodeNames(overlay_), static_cast<uint32_t>(overlay_.policy.lease_rounds),
              static_cast<uint32_t>(overlay_.policy.rounds_in_flight)) {
  absl::StatusOr<PlannerConfig> planner_config = MakePlannerConfig(overlay_, links_.believed());
  if (planner_config.ok()) {
    planner_config_ = *std::move(planner_config);
    Recover(options.records);
  } else {
    start_error_ = planner_config.status();
  }
}

SchedulerCore::~SchedulerCore() = default;

Actions SchedulerCore::Step(Timestamp now, Event event) {
  now_ = now;
  if (phase_ == Phase::kStopped) return Actions();
  std::visit([this](auto& happened) { On(happened); }, event);
  if (outbox_.held_messages() > kMaxHeldMessages) {
    Fail(absl::StatusCode::kResourceExhausted,
         absl::StrCat("the scheduler's state file is too slow: ", outbox_.held_messages(), " messages wait for it"));
  }
  return outbox_.Take();
}

Timestamp SchedulerCore::NextDeadline() const {
  if (phase_ == Phase::kStopped) return kNever;
  const Timestamp next_look = MayReplan() ? formulation_.NextLook() : kNever;
  return std::min(
      {membership_.NextCheck(), membership_due_.value_or(kNever), departure_due_.value_or(kNever), next_look});
}

std::map<std::string, size_t> SchedulerCore::TableSizes() const {
  return {
      {"keys", keys_.version().value()}, {"waiting keys", waiting_keys_.size()},   {"bindings", rounds_.bindings()},
      {"parked", rounds_.parked()},      {"open tallies", rounds_.open_tallies()}, {"held", outbox_.held_messages()},
      {"policies", policies_.size()}};
}

void SchedulerCore::On(const Started&) {
  if (!start_error_.ok()) {
    outbox_.Log(LogLevel::kError, std::string(start_error_.message()));
    outbox_.Stop(start_error_);
    phase_ = Phase::kStopped;
    return;
  }
  Persist(TermRecord{term_, overlay_.job});
  const Policy* policy = policies_.Current();
  if (policy == nullptr) {
    LogInfo(absl::StrCat("job '", overlay_.job, "', term ", term_.value(), ": waiting for ", membership_.start_with(),
                         " of ", Count(overlay_.nodes.size(), "node")));
    return;
  }
  phase_ = Phase::kRunning;
  membership_.RestoreStarted(now_, policy->members);
  formulation_.NotePlanned(now_);
  LogInfo(absl::StrCat("job '", overlay_.job, "', term ", term_.value(), ": back with ",
                       Count(keys_.version().value(), "key"), " and ", Count(rounds_.bindings(), "open binding"),
                       "; waiting for its ", Count(policy->members.size(), "node")));
}

void SchedulerCore::On(MessageReceived& event) {
  const std::optional<NodeId> node = membership_.NodeOn(event.connection);
  if (const auto* join = std::get_if<Join>(&event.message); join != nullptr) {
    OnJoin(event.connection, *join);
  } else if (std::holds_alternative<StatusRequest>(event.message)) {
    if (node.has_value() && membership_.Hear(now_, *node)) MembershipChanged();
    outbox_.SendUrgent(event.connection, StatusReply{MakeStatus()});
  } else if (const auto* reconfigure = std::get_if<Reconfigure>(&event.message);
             reconfigure != nullptr && !node.has_value()) {
    OnReconfigure(event.connection, *reconfigure);
  } else if (!node.has_value()) {
    Reject("a message on a connection whose node has not joined");
  } else {
    if (membership_.Hear(now_, *node)) MembershipChanged();
    OnNodeMessage(*node, event.message);
  }
}

void SchedulerCore::On(const MessageRejected& event) {
  const std::optional<NodeId> node = membership_.NodeOn(event.connection);
  Reject(absl::StrCat(node.has_value() ? absl::StrCat("from ", NameOf(*node)) : "from a connection that has not joined",
                      ": ", PrintableText(std::string(event.reason.message()), kMaxReasonBytes)));
}

void SchedulerCore::On(const ConnectionDown& event) { membership_.Disconnect(event.connection); }

void SchedulerCore::On(const DeadlineReached&) {
  if (const std::vector<NodeId> silent = membership_.TakeSilent(now_); !silent.empty()) OnSilence(silent);
  if (departure_due_.has_value() && now_ >= *departure_due_) {
    departure_due_.reset();
    for (const Member& member : membership_.all()) CheckDeparture(member.id);
  }
  ReplanIfWanted();
  if (!membership_due_.has_value() || now_ < *membership_due_) return;
  membership_due_.reset();
  if (!HasBegun()) return;
  Broadcast(MakeMembershipUpdate());
  const std::vector<std::string> waiting_for = membership_.WaitingFor();
  if (!waiting_for.empty()) LogInfo(absl::StrCat("waiting for ", absl::StrJoin(waiting_for, ", ")));
}

void SchedulerCore::On(const RecordPersisted& event) { outbox_.Persisted(event.record); }

void SchedulerCore::On(const StopRequested&) {
  Fail(absl::StatusCode::kUnavailable, "scheduler stopped", true);
  outbox_.Stop(absl::OkStatus());
  phase_ = Phase::kStopped;
}

void SchedulerCore::OnJoin(ConnectionId connection, const Join& join) {
  if (phase_ == Phase::kEnded && !membership_.Knows(join)) {
    return Refuse(connection, "the job has ended; restart the scheduler for a new one");
  }
  if (phase_ == Phase::kFailed && !membership_.Knows(join)) {
    return Refuse(connection, absl::StrCat("job failed: ", failure_.message(), "; restart the job"));
  }
  const JoinVerdict verdict = membership_.Join(now_, connection, join);
  if (verdict.kind != JoinVerdict::Kind::kAccepted) {
    Refuse(connection, verdict.kind == JoinVerdict::Kind::kRefused ? verdict.reason
                                                                   : absl::StrCat(verdict.reason, "; restart the job"));
    if (verdict.kind == JoinVerdict::Kind::kMemberRestarted) Fail(absl::StatusCode::kUnavailable, verdict.reason);
    return;
  }
  const Member& member = membership_.Find(verdict.node);
  if (verdict.new_incarnation) {
    Persist(NodeRecord{member.id, member.name, member.address, member.incarnation});
    ForgetRequests(member.id);
  }
  LogInfo(absl::StrCat(member.name, verdict.new_incarnation ? " has joined from " : " is back from ", member.address));
  Welcome(connection, member);
}

void SchedulerCore::Refuse(ConnectionId connection, std::string reason) {
  Reject(absl::StrCat("a join: ", reason));
  outbox_.Send(connection, JoinRefused{term_, std::move(reason)});
}

void SchedulerCore::Welcome(ConnectionId connection, const Member& member) {
  outbox_.Send(connection, JoinAccepted{term_, member.id, MakeJobConfig(overlay_, member.id)});
  if (phase_ == Phase::kFailed) {
    outbox_.Send(connection, MakeJobFailed());
    return;
  }
  outbox_.Send(connection, MakeMembershipUpdate());
  if (phase_ == Phase::kRunning) Publish(member);
  MembershipChanged();
}

void SchedulerCore::MembershipChanged() {
  if (!membership_due_.has_value()) membership_due_ = now_ + kMembershipBatch;
  if (phase_ == Phase::kPlanning && membership_.Members() != plan_->members) phase_ = Phase::kJoining;
  StartIfComplete();
}

void SchedulerCore::OnSilence(const std::vector<NodeId>& silent) {
  std::vector<std::string> names;
  for (const NodeId node : silent) {
    if (names.size() < kMaxWaitingForNames) names.push_back(NameOf(node));
  }
  const std::string what = absl::StrCat("nothing heard from ", absl::StrJoin(names, ", "), " for ",
                                        absl::FormatDuration(overlay_.membership.lost_after));
  if (phase_ == Phase::kRunning) {
    Fail(absl::StatusCode::kUnavailable, what);
  } else if (HasBegun()) {
    outbox_.Log(LogLevel::kWarning, what);
    MembershipChanged();
  }
}

void SchedulerCore::Fail(absl::StatusCode code, const std::string& reason, bool is_asked_for) {
  if (!HasBegun()) return;
  phase_ = Phase::kFailed;
  failure_ = absl::Status(code, reason);
  failure_is_asked_for_ = is_asked_for;
  outbox_.DropHeld();
  for (const Member& member : membership_.all()) {
    if (member.connection.has_value()) outbox_.SendUrgent(*member.connection, MakeJobFailed());
  }
  Persist(EndRecord{reason});
  RefuseReconfiguration(absl::StrCat("the job has failed: ", reason));
  outbox_.Log(is_asked_for ? LogLevel::kInfo : LogLevel::kError, absl::StrCat("job failed: ", reason));
}

void SchedulerCore::End() {
  phase_ = Phase::kEnded;
  Persist(EndRecord{"all nodes have left"});
  RefuseReconfiguration("the job has ended");
  LogInfo("all nodes have left: the job is done");
}

std::string SchedulerCore::Count(size_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

void SchedulerCore::SendTo(NodeId node, Message message) {
  const Member& member = membership_.Find(node);
  if (member.connection.has_value()) outbox_.Send(*member.connection, std::move(message));
}

void SchedulerCore::Broadcast(const Message& message) {
  for (const Member& member : membership_.all()) SendTo(member.id, message);
}

void SchedulerCore::Reject(const std::string& what) {
  if (std::optional<std::string> line = rejections_.Reject(now_, what); line.has_value()) {
    outbox_.Log(LogLevel::kWarning, *std::move(line));
  }
}

MembershipUpdate SchedulerCore::MakeMembershipUpdate() const {
  MembershipUpdate update;
  update.term = term_;
  update.epoch = epoch_;
  update.joined = static_cast<uint32_t>(membership_.joined());
  update.expected = static_cast<uint32_t>(membership_.start_with());
  update.started = phase_ == Phase::kRunning;
  update.waiting_for = membership_.WaitingFor();
  return update;
}

JobFailed SchedulerCore::MakeJobFailed() const {
  return JobFailed{term_, failure_.code(), std::string(failure_.message()), failure_is_asked_for_};
}

std::string SchedulerCore::MakeStatus() const {
  const char* const states[] = {"waiting", "planning", "running", "failed", "ended", "stopped"};
  return MakeStatusJson(StatusSources{overlay_.job, states[static_cast<size_t>(phase_)],
                                      std::string(failure_.message()), term_, epoch_, rejections_.count(), now_,
                                      predicted_round_, membership_, reports_, links_, keys_, rounds_, policies_,
                                      trial_.taken_back()});
}

}  // namespace banyan
