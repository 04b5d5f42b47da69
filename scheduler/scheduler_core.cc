#include "scheduler/scheduler_core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "scheduler/complaints.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/peer_text.h"
#include "scheduler/policy/plan_computation.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/status_report.h"
#include "topology/overlay/overlay_yaml.h"
#include "topology/planner_factory.h"

namespace banyan {
namespace {

// Before the start nobody knows whom a barrier waits for.
constexpr size_t kNobodyReleases = std::numeric_limits<size_t>::max();

}  // namespace

SchedulerCore::SchedulerCore(OverlayConfig overlay, SchedulerOptions options)
    : overlay_(std::move(overlay)),
      state_log_(options.least_tail_bytes),
      job_(overlay_.job),
      members_(&overlay_, &job_, options.start, &context_),
      departure_(overlay_.membership.lost_after),
      keys_(overlay_.chunks.max_elements, &job_, &members_, &context_),
      rounds_(&keys_.table(), NodeNames(overlay_), static_cast<uint32_t>(overlay_.policy.lease_rounds),
              static_cast<uint32_t>(overlay_.policy.rounds_in_flight)),
      publisher_(&overlay_, &job_, &keys_.table(), &members_, &context_),
      reconfigurator_(&overlay_, &job_, &keys_.table(), &publisher_.policies(), &context_),
      replanner_(overlay_, MakeNetworkView(overlay_), PlannerConfig(), &keys_.table(), &publisher_.policies()) {
  start_error_ = ConfigureReplanner();
  if (start_error_.ok()) start_error_ = Restore(options.stored);
}

SchedulerCore::~SchedulerCore() = default;

absl::Status SchedulerCore::ConfigureReplanner() {
  NetworkView believed = MakeNetworkView(overlay_);
  absl::StatusOr<PlannerConfig> config = MakePlannerConfig(overlay_, believed);
  if (!config.ok()) return config.status();
  replanner_ = Replanner(overlay_, std::move(believed), *std::move(config), &keys_.table(), &publisher_.policies());
  return absl::OkStatus();
}

absl::Status SchedulerCore::Restore(const StoredRecords& stored) {
  absl::StatusOr<RecoveredState> state = ReplayStateRecords(stored, overlay_.job, NodeNames(overlay_));
  if (!state.ok()) return state.status();
  state_log_.Restore(*std::move(state), stored);
  context_.state_log = &state_log_;
  const JobRestorer restorer(state_log_.state());
  restorer.RestoreNodes(job_, members_, publisher_);
  barrier_ = Barrier(restorer.next_barrier());
  return restorer.is_running() ? RestoreRunningJob(restorer) : absl::OkStatus();
}

absl::Status SchedulerCore::RestoreRunningJob(const JobRestorer& restorer) {
  const absl::StatusOr<std::optional<std::string>> file = restorer.RestoreOverlay(overlay_);
  if (!file.ok()) return file.status();
  if (file->has_value()) {
    if (absl::Status status = ConfigureReplanner(); !status.ok()) return status;
    context_.LogInfo(absl::StrCat("the job goes on as it was reconfigured with ", **file));
  }
  if (absl::Status status = restorer.RestoreRounds(keys_, rounds_); !status.ok()) return status;
  absl::Status status = restorer.RestorePolicies(replanner_.links().believed(), rounds_, publisher_);
  if (!status.ok()) return status;
  replanner_.Restore(restorer.measured());
  keys_.UseChunks(publisher_.policies().SmallestChunk());
  return absl::OkStatus();
}

Actions SchedulerCore::Step(Timestamp now, Event event) {
  context_.now = now;
  if (job_.phase() == JobPhase::kStopped) return Actions();
  std::visit([this](auto& happened) { On(happened); }, event);
  if (const size_t held = context_.outbox.held_messages(); held > kMaxHeldMessages) OnSlowStorage(held);
  if (job_.phase() != JobPhase::kStopped && state_log_.IsSnapshotDue()) {
    context_.outbox.PersistSnapshot(state_log_.TakeSnapshot());
  }
  return context_.outbox.Take();
}

Timestamp SchedulerCore::NextDeadline() const {
  if (job_.phase() == JobPhase::kStopped) return kNever;
  const Timestamp next_look = MayReplan() ? replanner_.NextLook() : kNever;
  return std::min({members_.NextDeadline(), departure_.NextDeadline(), next_look});
}

std::map<std::string, size_t> SchedulerCore::TableSizes() const {
  return {{"keys", keys_.table().version().value()}, {"waiting keys", keys_.waiting()},
          {"bindings", rounds_.bindings()},          {"parked", rounds_.parked()},
          {"open tallies", rounds_.open_tallies()},  {"held", context_.outbox.held_messages()},
          {"policies", publisher_.policies().size()}};
}

void SchedulerCore::On(const Started&) {
  if (!start_error_.ok()) return StopAtOnce();
  context_.Persist(TermRecord{job_.term(), job_.job()});
  const std::string name = absl::StrCat("job '", job_.job(), "', term ", job_.term().value());
  const Policy* policy = publisher_.policies().Current();
  if (policy == nullptr) {
    return context_.LogInfo(absl::StrCat(name, ": waiting for ", members_.table().start_with(), " of ",
                                         CountOf(overlay_.nodes.size(), "node")));
  }
  job_.Run();
  JobRestorer(state_log_.state()).RestoreMembers(context_.now, members_, departure_, rounds_);
  replanner_.OnRestarted(context_.now);
  context_.LogInfo(absl::StrCat(name, ": back with ", CountOf(keys_.table().version().value(), "key"), " and ",
                                CountOf(rounds_.bindings(), "open binding"), "; waiting for its ",
                                CountOf(policy->members.size(), "node")));
  if (members_.table().AllLeft()) End();
}

void SchedulerCore::StopAtOnce() {
  context_.outbox.Log(LogLevel::kError, std::string(start_error_.message()));
  context_.outbox.Stop(start_error_);
  job_.Stop();
}

void SchedulerCore::On(MessageReceived& event) {
  const std::optional<NodeId> node = members_.table().NodeOn(event.connection);
  if (const auto* join = std::get_if<Join>(&event.message); join != nullptr) {
    OnJoin(event.connection, *join);
  } else if (std::holds_alternative<StatusRequest>(event.message)) {
    if (node.has_value() && members_.Hear(*node)) OnMembershipChanged();
    context_.outbox.SendUrgent(event.connection, StatusReply{MakeStatus()});
  } else if (const auto* reconfigure = std::get_if<Reconfigure>(&event.message);
             reconfigure != nullptr && !node.has_value()) {
    if (reconfigurator_.Request(event.connection, *reconfigure) && !replanner_.is_planning()) PlanReconfiguration();
  } else if (!node.has_value()) {
    context_.Reject("a message on a connection whose node has not joined");
  } else {
    if (members_.Hear(*node)) OnMembershipChanged();
    OnNodeMessage(*node, event.message);
  }
}

void SchedulerCore::On(const MessageRejected& event) {
  const std::string why = PrintableText(std::string(event.reason.message()), kMaxReasonBytes);
  const std::optional<NodeId> node = members_.table().NodeOn(event.connection);
  if (node.has_value()) return members_.Reject(*node, why);
  context_.Reject(absl::StrCat("from a connection that has not joined: ", why));
}

void SchedulerCore::On(const DeadlineReached&) {
  if (const std::optional<std::string> silence = members_.TakeSilence(); silence.has_value()) OnSilence(*silence);
  if (departure_.TakeDue(context_.now)) {
    for (const Member& member : members_.table().all()) CheckDeparture(member.id);
  }
  ReplanIfWanted();
  members_.SendDueUpdate();
}

void SchedulerCore::On(ComputationFinished& event) {
  // A plan that a change of membership has overtaken is forgotten.
  if (!replanner_.IsPlanning(event.computation)) return;
  auto* computation = dynamic_cast<PlanComputation*>(event.result.get());
  BANYAN_CHECK(computation != nullptr);
  if (job_.IsOver()) return replanner_.DropPlan();
  if (reconfigurator_.is_pending() && !reconfigurator_.is_planning()) {
    // The plan that was being made before is of the past.
    replanner_.DropPlan();
    return PlanReconfiguration();
  }
  const bool is_start = job_.IsStarting();
  PlanDecision decision = replanner_.OnPlanFinished(context_.now, event.computation, *computation);
  if (is_start) return FinishStart(std::move(decision));
  if (reconfigurator_.is_planning()) return FinishReconfiguration(std::move(decision));
  FinishReplan(std::move(decision));
}

void SchedulerCore::On(const RecordPersisted& event) {
  context_.outbox.Persisted(event.record);
  StopIfDurable();
}

void SchedulerCore::On(const StopRequested&) {
  Fail(absl::StatusCode::kUnavailable, "scheduler stopped", true);
  is_stopping_ = true;
  StopIfDurable();
}

void SchedulerCore::OnJoin(ConnectionId connection, const Join& join) {
  const JoinVerdict verdict = members_.Join(connection, join);
  if (verdict.kind == JoinVerdict::Kind::kMemberRestarted) Fail(absl::StatusCode::kUnavailable, verdict.reason);
  if (verdict.kind != JoinVerdict::Kind::kAccepted) return;
  if (verdict.new_incarnation) ForgetRequests(verdict.node);
  if (job_.phase() == JobPhase::kFailed) return;
  if (job_.IsRunning()) {
    keys_.SendAll(verdict.node);
    publisher_.SendAll(verdict.node);
  }
  OnMembershipChanged();
}

void SchedulerCore::OnMembershipChanged() {
  members_.ScheduleUpdate();
  if (job_.phase() == JobPhase::kPlanning && members_.table().Members() != replanner_.planned_members()) {
    replanner_.DropPlan();
    job_.ReturnToJoining();
  }
  StartIfComplete();
}

void SchedulerCore::OnSilence(const std::string& what) {
  if (job_.IsRunning()) return Fail(absl::StatusCode::kUnavailable, what);
  if (!job_.IsStarting()) return;
  context_.LogWarning(what);
  OnMembershipChanged();
}

void SchedulerCore::LeaveBeforeStart(NodeId node) {
  members_.Leave(node);
  ForgetRequests(node);
  OnMembershipChanged();
}

void SchedulerCore::ForgetRequests(NodeId node) {
  keys_.Forget(node);
  barrier_.Drop(node);
}

void SchedulerCore::CheckDeparture(NodeId node) {
  if (!job_.IsRunning()) return;
  const std::optional<std::string> why = departure_.WhyStuck(members_.table().Find(node), reports_.Find(node), Waits());
  if (why.has_value()) Fail(absl::StatusCode::kUnavailable, *why, departure_.is_asked_for());
}

template <typename Other>
void SchedulerCore::OnNode(NodeId node, const Other&) {
  members_.Reject(node, "a kind of message that no node sends to a scheduler");
}

void SchedulerCore::OnNodeMessage(NodeId node, const Message& message) {
  std::visit([this, node](const auto& received) { OnNode(node, received); }, message);
}

void SchedulerCore::OnNode(NodeId node, const Heartbeat& message) { members_.AnswerHeartbeat(node, message); }

void SchedulerCore::OnNode(NodeId node, const RegisterKeys& message) {
  if (job_.IsStarting()) return keys_.Wait(node, message.keys);
  if (!NeedsRunning(node, "keys")) return;
  if (keys_.Register(node, message.keys)) replanner_.OnModelGrown(context_.now);
}

void SchedulerCore::OnNode(NodeId node, const PolicyRequest& message) {
  if (NeedsRunning(node, "a policy")) Apply(node, rounds_.Request(node, message));
}

void SchedulerCore::OnNode(NodeId node, const RoundsClosed& message) {
  if (NeedsRunning(node, "the end of rounds")) Apply(node, rounds_.Report(node, message));
}

void SchedulerCore::OnNode(NodeId node, const BarrierEntered& message) {
  const bool is_early = job_.IsStarting();
  if (!is_early && !NeedsRunning(node, "a barrier")) return;
  const size_t member_count = is_early ? kNobodyReleases : publisher_.policies().Current()->members.size();
  const std::optional<std::string> stuck = departure_.WhyStuck(message.barrier, Waits());
  if (stuck.has_value()) return Fail(absl::StatusCode::kUnavailable, *stuck, departure_.is_asked_for());
  switch (barrier_.Enter(node, message.barrier, member_count)) {
    case Barrier::Outcome::kWaiting:
      return;
    case Barrier::Outcome::kReleased:
      context_.Persist(BarrierRecord{message.barrier});
      return members_.Broadcast(BarrierReleased{job_.term(), message.barrier});
    case Barrier::Outcome::kWasBefore:
      return members_.SendTo(node, BarrierReleased{job_.term(), message.barrier});
    case Barrier::Outcome::kTooFar:
      return members_.Reject(
          node, absl::StrCat("barrier ", message.barrier, ", while barrier ", barrier_.next(), " is the next"));
  }
}

void SchedulerCore::OnNode(NodeId node, const PeerLost& message) {
  const Membership& table = members_.table();
  if (!job_.IsRunning()) return;
  if (!table.Contains(message.peer) || !table.Find(message.peer).is_member || message.peer == node) {
    return members_.Reject(node, absl::StrCat("the loss of node ", message.peer.value(), ", which is no peer of it"));
  }
  // Whoever has left may fall silent: CheckDeparture decides whether that matters.
  if (table.Find(message.peer).state == MemberState::kLeft) return;
  Fail(absl::StatusCode::kUnavailable,
       DescribeComplaint(members_.NameOf(node), members_.NameOf(message.peer), message));
}

void SchedulerCore::OnNode(NodeId node, const WorkerLost& message) {
  if (job_.IsOver()) return;
  const std::string what = DescribeComplaint(members_.NameOf(node), message);
  if (job_.IsRunning()) return Fail(absl::StatusCode::kUnavailable, what);
  context_.LogWarning(absl::StrCat(what, "; the start waits until ", members_.NameOf(node), " is restarted"));
  LeaveBeforeStart(node);
}

void SchedulerCore::OnNode(NodeId node, const RoundBroken& message) {
  if (!NeedsRunning(node, "a broken round")) return;
  if (!keys_.table().Contains(message.key)) {
    return members_.Reject(node, absl::StrCat("a broken round of key ", message.key.value(), ", which there is not"));
  }
  const std::string culprit = members_.table().Contains(message.culprit) ? members_.NameOf(message.culprit) : "";
  Fail(absl::StatusCode::kUnavailable,
       DescribeComplaint(members_.NameOf(node), keys_.table().NameOf(message.key), culprit, message));
}

void SchedulerCore::OnNode(NodeId node, const Leave& message) {
  if (members_.table().Find(node).state == MemberState::kLeft) return;  // said again after a reconnect
  const std::string why =
      absl::StrCat(members_.NameOf(node), " has left (", PrintableText(message.reason, kMaxReasonBytes), ")");
  context_.LogInfo(why);
  if (job_.IsStarting()) return LeaveBeforeStart(node);
  members_.Leave(node);
  if (!job_.IsRunning()) return;
  context_.Persist(LeaveRecord{node, why, message.asked_for});
  if (departure_.Note(context_.now, why, message.asked_for)) rounds_.SetDeparted();
  if (members_.table().AllLeft()) End();
}

void SchedulerCore::OnNode(NodeId node, const NodeReport& message) {
  const size_t node_count = members_.table().all().size();
  const absl::Status status = reports_.Accept(node, message, node_count, keys_.table().version().value());
  if (!status.ok()) return members_.Reject(node, std::string(status.message()));
  CheckDeparture(node);
  replanner_.OnRoundEnded(context_.now, node, message.last_sync);
  if (!overlay_.awareness.enabled) return;
  const absl::Status measured = replanner_.OnLinkReport(context_.now, node, message.links);
  if (!measured.ok()) members_.Reject(node, std::string(measured.message()));
  ReplanIfWanted();
}

bool SchedulerCore::NeedsRunning(NodeId node, const char* what) {
  if (job_.IsRunning()) return true;
  if (job_.phase() == JobPhase::kFailed) {
    // Until the end is durable the node is told by what waits for it already.
    if (context_.outbox.IsAllDurable()) members_.SendTo(node, job_.MakeJobFailed());
  } else {
    members_.Reject(node, absl::StrCat("a message about ", what, " while the job does not run"));
  }
  return false;
}

void SchedulerCore::Apply(NodeId node, RoundOutcome outcome) {
  for (const std::string& what : outcome.rejections) members_.Reject(node, what);
  if (!outcome.failure.ok()) return Fail(outcome.failure.code(), std::string(outcome.failure.message()));
  if (!outcome.closed.empty()) {
    // Whoever hears of it does not report it again, so a restarted scheduler must know it too.
    context_.Persist(ClosedRecord{outcome.closed});
    members_.Broadcast(ClosedEverywhere{job_.term(), std::move(outcome.closed)});
    RetirePolicies();
  }
  if (!outcome.closed_before.empty()) {
    members_.SendTo(node, ClosedEverywhere{job_.term(), std::move(outcome.closed_before)});
  }
  if (!outcome.new_bindings.empty()) context_.Persist(BindingsRecord{std::move(outcome.new_bindings)});
  for (RoundOutcome::Answer& answer : outcome.answers) {
    members_.SendTo(answer.node, PolicyAnswer{job_.term(), job_.epoch(), std::move(answer.bindings)});
  }
}

void SchedulerCore::AnswerEarlyRequests() {
  for (const Member& member : members_.table().all()) {
    if (!member.is_member) ForgetRequests(member.id);
  }
  if (keys_.RegisterWaiting()) replanner_.OnModelGrown(context_.now);
  // Entering once more releases it when all are there.
  if (!barrier_.entered().empty()) OnNode(*barrier_.entered().begin(), BarrierEntered{barrier_.next()});
}

void SchedulerCore::StartPlan(PlanRequest request) {
  context_.outbox.StartComputation(request.id, std::move(request.computation));
}

void SchedulerCore::StartIfComplete() {
  const Membership& table = members_.table();
  if (job_.phase() != JobPhase::kJoining || table.joined() < table.start_with()) return;
  job_.BeginPlanning();
  std::vector<NodeId> members = table.Members();
  context_.LogInfo(absl::StrCat(members.size() == overlay_.nodes.size() ? "all " : "", CountOf(members.size(), "node"),
                                " joined: epoch ", job_.epoch().value()));
  StartPlan(replanner_.PlanForStart(context_.now, std::move(members)));
}

void SchedulerCore::FinishStart(PlanDecision decision) {
  if (decision.kind == PlanDecision::Kind::kFail) {
    return Fail(decision.code, absl::StrCat("planning failed: ", decision.reason));
  }
  job_.Run();
  Adopt(std::move(decision));
  members_.Start();
  publisher_.SendNewest();
  RetirePolicies();
  AnswerEarlyRequests();
}

void SchedulerCore::ReplanIfWanted() {
  if (!MayReplan()) return;
  PlanDecision decision = replanner_.Look(context_.now);
  if (decision.kind == PlanDecision::Kind::kPlan) StartPlan(std::move(decision.request));
  if (decision.kind == PlanDecision::Kind::kPostpone) context_.LogInfo(std::move(decision.reason));
}

void SchedulerCore::FinishReplan(PlanDecision decision) {
  if (!decision.note.empty()) context_.LogInfo(decision.note);
  switch (decision.kind) {
    case PlanDecision::Kind::kAdopt:
    case PlanDecision::Kind::kGoBack:
      Adopt(std::move(decision));
      publisher_.SendNewest();
      return RetirePolicies();
    case PlanDecision::Kind::kKeep:
      return context_.outbox.Log(
          LogLevel::kDebug, absl::StrCat("policy ", publisher_.last_version().value(), " stays: ", decision.reason));
    case PlanDecision::Kind::kFail:
      return context_.LogWarning(absl::StrCat("planning failed, and the policy stays: ", decision.reason));
    case PlanDecision::Kind::kNone:
    case PlanDecision::Kind::kPlan:
    case PlanDecision::Kind::kPostpone:
      return;
  }
}

void SchedulerCore::Adopt(PlanDecision decision, std::optional<OverlayText> overlay) {
  publisher_.Put(std::move(decision.policy), std::move(decision.reason), decision.view, std::move(overlay));
  rounds_.UsePolicy(publisher_.last_version(), publisher_.policies().Current()->members.size());
  replanner_.OnAdopted(context_.now, decision.view);
}

void SchedulerCore::RetirePolicies() {
  publisher_.Retire(rounds_.OldestPolicy());
  if (publisher_.policies().size() == 1) replanner_.OnGoverningAlone(context_.now);
  keys_.UseChunks(publisher_.policies().SmallestChunk());
}

void SchedulerCore::PlanReconfiguration() {
  const Reconfiguration& wanted = reconfigurator_.BeginPlanning();
  StartPlan(replanner_.PlanForReconfiguration(context_.now, wanted.believed, wanted.planner_config, wanted.Reason()));
}

void SchedulerCore::FinishReconfiguration(PlanDecision decision) {
  if (decision.kind == PlanDecision::Kind::kFail) {
    return reconfigurator_.Refuse(absl::StrCat("there is no such plan: ", decision.reason));
  }
  Reconfiguration done = reconfigurator_.Take();
  overlay_ = std::move(done.overlay);
  replanner_.OnReconfigured(context_.now, overlay_, std::move(done.believed), std::move(done.planner_config));
  Adopt(std::move(decision), std::move(done.text));
  publisher_.SendNewest();
  RetirePolicies();
  reconfigurator_.Accept(done, publisher_.last_version());
}

void SchedulerCore::Fail(absl::StatusCode code, const std::string& reason, bool is_asked_for) {
  if (job_.IsOver()) return;
  job_.Fail(absl::Status(code, reason), is_asked_for);
  context_.outbox.DropHeld();
  // A node that hears of the end gives up, so a restarted scheduler must know it too.
  context_.Persist(EndRecord{reason});
  members_.Broadcast(job_.MakeJobFailed());
  reconfigurator_.Refuse(absl::StrCat("the job has failed: ", reason));
  context_.outbox.Log(is_asked_for ? LogLevel::kInfo : LogLevel::kError, absl::StrCat("job failed: ", reason));
}

void SchedulerCore::OnSlowStorage(size_t held) {
  if (!job_.IsOver()) {
    return Fail(absl::StatusCode::kResourceExhausted,
                absl::StrCat("the scheduler's state file is too slow: ", held, " messages wait for it"));
  }
  context_.outbox.DropHeld();
  if (job_.phase() == JobPhase::kFailed) members_.Broadcast(job_.MakeJobFailed());
}

void SchedulerCore::StopIfDurable() {
  if (!is_stopping_ || !context_.outbox.IsAllDurable()) return;
  context_.outbox.Stop(absl::OkStatus());
  job_.Stop();
}

void SchedulerCore::End() {
  job_.End();
  context_.Persist(EndRecord{"all nodes have left"});
  reconfigurator_.Refuse("the job has ended");
  context_.LogInfo("all nodes have left: the job is done");
}

std::string SchedulerCore::MakeStatus() const {
  return MakeStatusJson(StatusSources{job_.job(), job_.PhaseName(), std::string(job_.failure().message()), job_.term(),
                                      job_.epoch(), context_.rejections.count(), context_.now,
                                      replanner_.predicted_round(), members_.table(), reports_, replanner_.links(),
                                      keys_.table(), rounds_, publisher_.policies(), replanner_.policies_taken_back()});
}

}  // namespace banyan
