#include "scheduler/scheduler_core.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "scheduler/complaints.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/peer_text.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/status_report.h"

namespace banyan {
SchedulerCore::SchedulerCore(OverlayConfig overlay, SchedulerOptions options)
    : overlay_(std::move(overlay)),
      state_log_(options.least_tail_bytes),
      ends_with_job_(options.ends_with_job),
      begins_another_(options.begins_another),
      keyless_address_(options.keyless_address),
      storage_(options.storage),
      farewell_(overlay_.membership.lost_after),
      job_(overlay_.job),
      members_(&overlay_, &job_, options.start, &context_),
      keys_(overlay_.chunks.max_elements, &job_, &members_, &context_),
      rounds_(&keys_.table(), NodeNames(overlay_), overlay_.policy.lease,
              static_cast<uint32_t>(overlay_.policy.rounds_in_flight)),
      quorum_(&overlay_, &job_, &members_, &reports_, &keys_.table()),
      order_({&members_.table(), &reports_, &keys_.table(), &rounds_}),
      announcer_(&job_, &members_, &context_),
      barriers_(&job_, &members_, &context_, [this](NodeId node) { return transfers_.IsFetching(node); }),
      policies_(&overlay_, &job_, &keys_, &rounds_, &members_, &context_),
      transfers_({&job_, &members_, &policies_.policies(), &keys_.table(), &rounds_,
                  overlay_.aggregation.op != AggregationOp::kSum && overlay_.aggregation.op != AggregationOp::kMean,
                  &context_},
                 [this](const std::string& why) { epochs_.Change(why); }),
      precision_(options.precision, &overlay_, &keys_.table(), &members_, &context_),
      traces_(&job_, &members_, static_cast<uint64_t>(overlay_.policy.rounds_in_flight), &context_),
      conductor_({&job_, &members_, &reports_, &keys_, &rounds_, &announcer_, &barriers_, &quorum_, &policies_,
                  &transfers_, &traces_, &context_}),
      epochs_({&overlay_, &job_, &reports_, &keys_.table(), &rounds_, &members_, &policies_, &conductor_, &context_}) {
  context_.outbox.set_most_bytes(options.most_held_bytes);
  if (precision_.is_on()) rounds_.UseRoutes(&precision_);
  if (precision_.is_on()) keys_.UseRoutes(&precision_);
  if (precision_.is_on() && options.precision->profile.has_low_bit) overlay_.low_bit = options.precision->profile.rules;
  start_error_ = policies_.Configure();
  if (start_error_.ok()) start_error_ = Restore(options.stored);
}

absl::Status SchedulerCore::Restore(const StoredRecords& stored) {
  absl::StatusOr<RecoveredState> state = ReplayStateRecords(stored, overlay_.job, NodeNames(overlay_));
  if (!state.ok()) return state.status();
  rounds_.Restore(std::exchange(state->rounds, {}));
  state_log_.Restore(*std::move(state), stored);
  context_.state_log = &state_log_;
  const JobRestorer restorer(state_log_.state());
  restorer.RestoreNumbers(job_, policies_.publisher());
  barriers_.Restore(restorer.next_barrier());
  if (restorer.is_running()) return RestoreRunningJob(restorer);
  return absl::OkStatus();
}

absl::Status SchedulerCore::RestoreRunningJob(const JobRestorer& restorer) {
  const OverlayConfig given = overlay_;
  const absl::StatusOr<std::optional<std::string>> file = restorer.RestoreOverlay(overlay_);
  if (!file.ok()) return file.status();
  if (file->has_value()) {
    if (given.operators != overlay_.operators || given.observers != overlay_.observers) {
      context_.LogWarning(absl::StrCat(given.file_name, " lists other operators or observers than ", **file,
                                       ", with which the job was reconfigured: those of ", **file,
                                       " count until `banyan reconfigure` is given another file"));
    }
    members_.AddNodes();
    rounds_.SetNodeNames(NodeNames(overlay_));
    if (absl::Status status = policies_.Configure(); !status.ok()) return status;
    context_.LogInfo(absl::StrCat("the job goes on as it was reconfigured with ", **file));
  }
  if (absl::Status status = restorer.CheckSettings(overlay_); !status.ok()) return status;
  restorer.RestoreNodes(members_);
  if (absl::Status status = restorer.RestoreKeys(keys_, rounds_); !status.ok()) return status;
  absl::Status status =
      restorer.RestorePolicies(policies_.replanner().links().believed(), rounds_, policies_.publisher());
  if (!status.ok()) return status;
  policies_.replanner().Restore(restorer.measured());
  keys_.UseChunks(policies_.policies().SmallestChunk());
  precision_.Restore(restorer.precision());
  if (const std::string others = precision_.DescribeOtherSlices(); !others.empty()) context_.LogWarning(others);
  return absl::OkStatus();
}

Actions SchedulerCore::Step(Timestamp now, Event event) {
  context_.now = now;
  if (job_.phase() == JobPhase::kStopped) return Actions();
  std::visit([this](auto& happened) { On(happened); }, event);
  if (job_.IsRunning() && epochs_.end().has_value()) EndAs(*epochs_.end());
  if (job_.IsRunning()) ReviewRounds();
  if (!context_.outbox.has_room()) OnSlowStorage();
  ReviewStorage();
  if (ends_with_job_ && job_.IsOver()) StopAfterFarewell();
  if (job_.phase() != JobPhase::kStopped && state_log_.IsSnapshotDue()) {
    context_.outbox.PersistSnapshot(now, state_log_.TakeSnapshot(rounds_.ledger()));
  }
  return context_.outbox.Take();
}

Timestamp SchedulerCore::NextDeadline() const {
  if (job_.phase() == JobPhase::kStopped) return kNever;
  const Timestamp next_transfer = job_.IsRunning() ? transfers_.NextDeadline() : kNever;
  const Timestamp next_change = job_.IsOver() ? kNever : std::min(epochs_.NextDeadline(), next_transfer);
  return std::min({members_.NextDeadline(), next_change, policies_.NextDeadline(), traces_.NextDeadline(),
                   stop_.has_value() ? kNever : farewell_.NextDeadline(context_.now),
                   stands_since_.has_value() ? kNever : context_.outbox.waits_since() + kStorageStandsAfter});
}

std::map<std::string, size_t> SchedulerCore::TableSizes() const {
  return {{"keys", keys_.table().version().value()}, {"waiting keys", keys_.waiting()},
          {"bindings", rounds_.bindings()},          {"parked", rounds_.parked()},
          {"open tallies", rounds_.open_tallies()},  {"held", context_.outbox.held_messages()},
          {"policies", policies_.policies().size()}, {"waiting joins", members_.waiting().size()}};
}

void SchedulerCore::On(const Started&) {
  if (!start_error_.ok()) return StopAtOnce(LogLevel::kError, start_error_, std::string(start_error_.message()));
  if (IsOverBefore()) return members_.PublishKeys();
  const RecoveredState& state = state_log_.state();
  if (state.is_running()) JobRestorer(state).RestoreMembers(members_);
  members_.PublishKeys();
  context_.Persist(TermRecord{job_.term(), job_.job()});
  if (std::optional<SettingsRecord> settings = JobRestorer(state).NewSettings(overlay_); settings.has_value()) {
    if (!state.is_running() && !state.settings.empty()) {
      context_.LogWarning(absl::StrCat("the settings of ", overlay_.file_name,
                                       " are others than before: nodes that have joined already must start again"));
    }
    context_.Persist(*std::move(settings));
  }
  if (!state.is_running()) JobRestorer(state).RestoreNodes(members_);
  const std::string name = absl::StrCat("job '", job_.job(), "', term ", job_.term().value());
  if (!state.is_running()) {
    return context_.LogInfo(absl::StrCat(name, ": waiting for ", members_.table().start_with(), " of ",
                                         CountOf(overlay_.nodes.size(), "node")));
  }
  job_.Run();
  policies_.replanner().OnRestarted(context_.now);
  last_progress_ = context_.now;
  context_.LogInfo(absl::StrCat(name, ": back with ", CountOf(keys_.table().version().value(), "key"), " and ",
                                CountOf(rounds_.bindings(), "open binding"), "; waiting for its ",
                                CountOf(state.members.size(), "node")));
  epochs_.Resume(state.planned_epoch);
  if (IsDone()) End();
}

void SchedulerCore::StopAtOnce(LogLevel level, const absl::Status& status, const std::string& why) {
  context_.outbox.Log(level, why);
  context_.outbox.Stop(status);
  job_.Stop();
}

bool SchedulerCore::IsOverBefore() {
  const std::optional<EndRecord>& end = state_log_.state().end;
  if (begins_another_ || !end.has_value() || end->end == JobEnd::kFailed) return false;
  over_before_ = absl::AlreadyExistsError(
      absl::StrCat("job '", job_.job(), "' is over: ", end->reason,
                   "; nothing is left to do. `banyan scheduler --another` begins another one of this name"));
  context_.LogWarning(std::string(over_before_->message()));
  job_.BeOver();
  return true;
}

void SchedulerCore::On(MessageReceived& event) {
  const std::optional<NodeId> node = members_.table().NodeOn(event.connection);
  if (node.has_value() && members_.Hear(*node)) OnMembershipChanged();
  if (const auto* join = std::get_if<Join>(&event.message); join != nullptr) {
    OnJoin(event.connection, *join);
  } else if (std::holds_alternative<StatusRequest>(event.message)) {
    context_.outbox.SendUrgent(event.connection, StatusReply{Status()});
  } else if (node.has_value()) {
    OnNodeMessage(*node, event.message);
  } else if (!members_.AnswerFallen(event.connection) && !OnOperator(event.connection, event.message)) {
    context_.Reject("a message on a connection whose node has not joined");
  }
  LeaveOutLost();
}

void SchedulerCore::LeaveOutLost() {
  const absl::Duration after = overlay_.membership.worker_lost_after.value_or(absl::InfiniteDuration());
  constexpr int kLooks = 4;  // in that time
  const bool looks = job_.IsRunning() && !epochs_.is_changing() && context_.now - looked_at_ >= after / kLooks;
  if (!looks) return;
  looked_at_ = context_.now;
  const std::optional<OpenRound> open = FindOpenRound(keys_.table(), rounds_, members_.table(), reports_);
  const bool is_awaited = open.has_value() && !open->not_pushed.empty() && open->round > Round(0);
  if (!is_awaited || awaited_ != std::pair(open->key, open->round)) {
    awaited_ = open.has_value() ? std::pair(open->key, open->round) : std::pair<KeyId, Round>();
    awaited_since_ = context_.now;
    return;
  }
  if (context_.now - awaited_since_ < after) return;
  context_.LogWarning(absl::StrCat("round ", open->round.value(), " of key '", keys_.table().NameOf(open->key),
                                   "' has waited for ", MakeWaitAnswers().Describe(*open), " for ",
                                   absl::FormatDuration(after), ": the others go on without these workers"));
  for (const NodeId node : open->not_pushed) {
    members_.SendTo(node, QuorumReached{job_.term(), {{open->key, open->round}}});
  }
  awaited_since_ = context_.now;
}

bool SchedulerCore::OnOperator(ConnectionId connection, const Message& message) {
  return std::visit(
      [&](const auto& order) {
        constexpr bool kIsOrder = requires { this->OnOrder(connection, order); };
        if constexpr (kIsOrder) OnOrder(connection, order);
        return kIsOrder;
      },
      message);
}

std::string SchedulerCore::Stop(const StopJob& order) {
  const std::string reason = PrintableText(order.reason, kMaxReasonBytes);
  const std::string what = absl::StrCat("stopped by an operator", reason.empty() ? "" : ": ", reason);
  Fail(absl::StatusCode::kCancelled, what, true);
  return absl::StrCat("job '", job_.job(), "' is over for all its nodes");
}

void SchedulerCore::On(const MessageRejected& event) {
  const std::string why = PrintableText(std::string(event.reason.message()), kMaxReasonBytes);
  const std::optional<NodeId> node = members_.table().NodeOn(event.connection);
  if (node.has_value()) {
    members_.Reject(*node, why);
    // It goes on as if this had been heard, and the others would wait for ever.
    const bool is_unread = absl::IsInvalidArgument(event.reason);
    if (is_unread) Exclude(*node, absl::StrCat("a message of ", members_.NameOf(*node), " cannot be read: ", why));
    return;
  }
  context_.Reject(absl::StrCat("from a connection that has not joined: ", why));
}

void SchedulerCore::On(const ConnectionDown& event) {
  const std::optional<NodeId> node = members_.Disconnect(event.connection);
  traces_.OnDisconnected(event.connection, node);
  if (node.has_value()) farewell_.OnDisconnected(context_.now, *node);
  if (node.has_value() && job_.IsRunning()) epochs_.OnDisconnected(*node);
  if (job_.IsStarting()) AdmitBeforeStart();
}

void SchedulerCore::On(const DeadlineReached&) {
  if (job_.IsRunning()) {
    transfers_.OnDeadline();
    epochs_.OnDeadline();
    if (epochs_.end().has_value()) return;
  } else if (const std::vector<NodeId> silent = members_.TakeSilent(); job_.IsStarting()) {
    if (!silent.empty()) context_.LogWarning(members_.DescribeSilence(silent));
    for (const NodeId replaced : epochs_.TakeReplaced()) LeaveBeforeStart(replaced);
    AdmitBeforeStart();
    if (!silent.empty()) OnMembershipChanged();
  }
  policies_.ReplanIfWanted();
  traces_.OnDeadline();
  members_.SendDueUpdate();
}

void SchedulerCore::On(ComputationFinished& event) {
  if (precision_.OnComputation(event)) return;
  std::optional<PlanDecision> decision = policies_.OnComputation(event);
  if (!decision.has_value()) return;
  if (job_.IsStarting()) return FinishStart(*std::move(decision));
  epochs_.OnPlan(*std::move(decision));
}

void SchedulerCore::On(const RecordPersisted& event) {
  const absl::Duration stood = context_.StorageStandsFor();
  context_.outbox.Persisted(event.record);
  if (job_.IsRunning()) epochs_.OnDurable(stood);
  StopIfDurable();
}

void SchedulerCore::OnJoin(ConnectionId connection, const Join& join) {
  const JoinVerdict verdict = members_.Join(connection, join);
  if (verdict.kind == JoinVerdict::Kind::kRefused) return;
  if (verdict.kind != JoinVerdict::Kind::kAccepted) return epochs_.OnJoin(verdict);
  if (verdict.new_incarnation) ForgetRequests(verdict.node);
  if (job_.phase() == JobPhase::kFailed) return;
  if (job_.IsRunning()) {
    epochs_.SendState(verdict.node);
    transfers_.OnRejoined(verdict.node);
  }
  OnMembershipChanged();
}

void SchedulerCore::OnMembershipChanged() {
  members_.ScheduleUpdate();
  if (job_.phase() == JobPhase::kPlanning && members_.table().Members() != policies_.replanner().planned_members()) {
    policies_.DropPlan();
    job_.ReturnToJoining();
  }
  StartIfComplete();
}

void SchedulerCore::AdmitBeforeStart() {
  for (const NodeId node : members_.waiting().Nodes()) {
    const Member& member = members_.table().Find(node);
    if (member.state == MemberState::kJoined && member.connection.has_value()) continue;
    std::vector<WaitingJoins::Entry> starts;
    while (std::optional<WaitingJoins::Entry> start = members_.TakeWaiting(node)) starts.push_back(*std::move(start));
    for (const WaitingJoins::Entry& start : starts) OnJoin(start.connection, start.join);
  }
}

void SchedulerCore::LeaveBeforeStart(NodeId node) {
  members_.Leave(node, true);
  ForgetRequests(node);
  AdmitBeforeStart();
  OnMembershipChanged();
}

void SchedulerCore::ForgetRequests(NodeId node) {
  keys_.Forget(node);
  order_.Forget(node);
  barriers_.Drop(node);
}

template <typename Other>
void SchedulerCore::OnNode(NodeId node, const Other&) {
  members_.Reject(node, "a kind of message that no node sends to a scheduler");
}

void SchedulerCore::OnNodeMessage(NodeId node, const Message& message) {
  std::visit([this, node](const auto& received) { OnNode(node, received); }, message);
}

void SchedulerCore::OnNode(NodeId node, const RegisterKeys& message) {
  if (!job_.IsStarting() && !NeedsRunning(node, "keys")) return;
  // Keys must not change while members say how far they are with each.
  if (job_.IsStarting() || epochs_.is_changing()) return keys_.Wait(node, message.keys);
  if (keys_.Register(node, message.keys, rounds_)) policies_.replanner().OnModelGrown(context_.now);
}

void SchedulerCore::OnNode(NodeId node, const PolicyRequest& message) {
  if (NeedsRunning(node, "a policy")) Apply(node, rounds_.Request(context_.now, node, message));
}

void SchedulerCore::OnNode(NodeId node, const RoundsClosed& message) {
  if (NeedsRunning(node, "the end of rounds")) Apply(node, rounds_.Report(context_.now, node, message));
}

void SchedulerCore::OnNode(NodeId node, const WorkerLost& message) {
  if (job_.IsOver()) return;
  const std::string what = DescribeComplaint(members_.NameOf(node), message);
  if (job_.IsRunning()) {
    epochs_.OnWorkerLost(node, what, message.has_values);
    return quorum_.OnWorkersChanged();
  }
  // The job starts without workers of the node; another one may attach at any time.
  context_.LogWarning(what);
  members_.SetWorkerless(node, message.has_values);
}

void SchedulerCore::OnNode(NodeId node, const RoundBroken& message) {
  if (!NeedsRunning(node, "a broken round")) return;
  if (!keys_.table().Contains(message.key)) {
    return members_.Reject(node, absl::StrCat("a broken round of key ", message.key.value(), ", which there is not"));
  }
  const std::string culprit = members_.table().Contains(message.culprit) ? members_.NameOf(message.culprit) : "";
  const std::string why = DescribeComplaint(members_.NameOf(node), keys_.table().NameOf(message.key), culprit, message);
  // Whoever runs the job has asked for that.
  const bool ends_all = message.culprit == NodeId() && overlay_.aggregation.not_finite == NotFiniteRule::kFail;
  if (ends_all) return Fail(absl::StatusCode::kUnavailable, why);
  epochs_.OnRoundBroken(node, message, why);
}

void SchedulerCore::OnNode(NodeId node, const Leave& message) {
  if (members_.table().Find(node).state == MemberState::kLeft) return;  // said again after a reconnect
  const std::string why =
      absl::StrCat(members_.NameOf(node), " has left (", PrintableText(message.reason, kMaxReasonBytes), ")");
  context_.LogInfo(why);
  if (job_.IsStarting()) return LeaveBeforeStart(node);
  const bool is_member = members_.table().Find(node).is_member;
  members_.Leave(node, message.asked_for);
  if (!job_.IsRunning()) return;
  if (is_member) context_.Persist(LeaveRecord{node, message.asked_for});
  transfers_.OnMembersChanged();
  epochs_.OnLeave(node, why, message.asked_for);
  if (IsDone()) End();
}

void SchedulerCore::OnNode(NodeId node, const NodeReport& message) {
  const size_t node_count = members_.table().all().size();
  const absl::Status status = reports_.Accept(node, message, node_count, keys_.table().version().value(), context_.now);
  if (!status.ok()) return members_.Reject(node, std::string(status.message()));
  precision_.OnReport(node, message.precision, message.workers_attached);
  if (members_.NoteWorkers(node, message.workers_attached)) return;
  if (job_.IsRunning() && IsDone()) return End();
  if (job_.IsRunning()) {
    epochs_.OnNodeReport(node);
    quorum_.OnWorkersChanged();
    SendDisorder(order_.OnReport(context_.now, last_progress_, node));
  }
  policies_.replanner().OnReport(context_.now, node, message);
  if (!overlay_.awareness.enabled) return;
  const absl::Status measured = policies_.OnLinkReport(node, message.links);
  if (!measured.ok()) members_.Reject(node, std::string(measured.message()));
}

void SchedulerCore::OnNode(NodeId node, const WaitQuestion& message) {
  members_.SendTo(node, WaitAnswer{job_.term(), message.key, message.round, MakeWaitAnswers().Answer(message)});
}

void SchedulerCore::SendDisorder(const std::string& disorder) {
  if (disorder.empty()) return;
  context_.LogWarning(disorder);
  members_.Broadcast(WaitAnswer{job_.term(), KeyId(), WaitQuestion::kJob, disorder});
}

bool SchedulerCore::IsDone() const {
  return members_.table().AllLeft([this](const Member& member) { return IsHelper(member, reports_.Find(member.id)); });
}

bool SchedulerCore::NeedsRunning(NodeId node, const char* what) {
  if (job_.IsRunning()) return true;
  const bool has_failed = job_.phase() == JobPhase::kFailed;
  if (!has_failed) members_.Reject(node, absl::StrCat("a message about ", what, " while the job does not run"));
  // Until the end is durable the node is told by what waits for it already.
  if (has_failed && context_.outbox.IsAllDurable()) members_.SendTo(node, job_.MakeJobFailed());
  return false;
}

void SchedulerCore::Apply(NodeId node, RoundOutcome outcome) {
  announcer_.Reject(node, outcome);
  if (!outcome.failure.ok()) return Fail(outcome.failure.code(), std::string(outcome.failure.message()));
  const bool has_closed = !outcome.closed.empty();
  const std::vector<std::pair<NodeId, std::string>> outliers = std::move(outcome.outliers);
  const std::set<NodeId> forgotten = std::move(outcome.forgotten);
  announcer_.Announce(node, std::move(outcome));
  for (const auto& [outlier, why] : outliers) Exclude(outlier, why);
  for (const NodeId other : forgotten) HaveAskAnew(other);
  if (!has_closed) return;
  last_progress_ = context_.now;
  policies_.RetirePolicies();
}

void SchedulerCore::HaveAskAnew(NodeId node) {
  const std::optional<ConnectionId> connection = members_.table().Find(node).connection;
  if (!connection.has_value()) return;
  context_.LogWarning(absl::StrCat("more than ", kMaxParkedRequests, " requests for rounds were waiting; ",
                                   members_.NameOf(node), " joins again and asks anew"));
  context_.outbox.Close(*connection);
  On(ConnectionDown{*connection});
}

void SchedulerCore::AnswerEarlyRequests() {
  for (const Member& member : members_.table().all()) {
    if (!member.is_member) ForgetRequests(member.id);
  }
  if (keys_.RegisterWaiting(rounds_)) policies_.replanner().OnModelGrown(context_.now);
  barriers_.Review();
}

void SchedulerCore::StartIfComplete() {
  const Membership& table = members_.table();
  if (job_.phase() != JobPhase::kJoining || table.joined() < table.start_with()) return;
  std::vector<NodeId> members = table.Members();
  if (members == unplannable_) return;
  unplannable_.clear();
  members_.SetNeedsMore(false);
  job_.BeginPlanning();
  context_.LogInfo(absl::StrCat(members.size() == overlay_.nodes.size() ? "all " : "", CountOf(members.size(), "node"),
                                " joined: epoch ", job_.epoch().value()));
  policies_.PlanForStart(std::move(members));
}

void SchedulerCore::FinishStart(PlanDecision decision) {
  if (decision.kind == PlanDecision::Kind::kFail) return WaitForMore(decision);
  last_progress_ = context_.now;
  epochs_.Start(std::move(decision));
  AnswerEarlyRequests();
}

void SchedulerCore::WaitForMore(const PlanDecision& decision) {
  unplannable_ = members_.table().Members();
  if (unplannable_.size() == overlay_.nodes.size()) {
    return Fail(decision.code, absl::StrCat("planning failed: ", decision.reason));
  }
  context_.LogWarning(absl::StrCat(
      "the start waits for more nodes, since there is no plan for those that have joined: ", decision.reason));
  job_.ReturnToJoining();
  members_.SetNeedsMore(true);
  members_.ScheduleUpdate();
}

void SchedulerCore::Fail(absl::StatusCode code, const std::string& reason, bool is_asked_for) {
  if (job_.IsOver()) return;
  job_.Fail(absl::Status(code, reason), is_asked_for);
  context_.outbox.DropHeld();
  // A node that hears of the end gives up, so a restarted scheduler must know it too.
  context_.Persist(EndRecord{reason, is_asked_for ? JobEnd::kStopped : JobEnd::kFailed});
  members_.Fail();
  policies_.DropPlan();
  policies_.reconfigurator().Refuse(job_.DescribeEnd());
  context_.outbox.Log(is_asked_for ? LogLevel::kInfo : LogLevel::kError, job_.DescribeEnd());
}

void SchedulerCore::OnSlowStorage() {
  if (!job_.IsOver()) {
    context_.LogWarning(absl::StrCat("the storage of the state is too slow: ", context_.outbox.held_messages(),
                                     " messages of ", context_.outbox.held_bytes(),
                                     " bytes wait for it; their connections are closed, and nodes join again"));
    for (const ConnectionId connection : context_.outbox.CloseHeld()) On(ConnectionDown{connection});
    return;
  }
  context_.outbox.DropHeld();
  if (!context_.outbox.has_room()) {
    for (const ConnectionId connection : context_.outbox.CloseHeld()) On(ConnectionDown{connection});
  }
  if (job_.phase() == JobPhase::kFailed) members_.Broadcast(job_.MakeJobFailed());
}

void SchedulerCore::ReviewStorage() {
  const std::string stands = DescribeStorage();
  if (!stands_since_.has_value() && !stands.empty()) {
    stands_since_ = context_.outbox.waits_since();
    return context_.LogWarning(
        absl::StrCat(stands, "; rounds go on as far as nodes know their policy, and membership does not change"));
  }
  if (!stands_since_.has_value() || !stands.empty()) return;
  context_.LogInfo(
      absl::StrCat("the state is written again, after ",
                   absl::FormatDuration(absl::Trunc(context_.now - *stands_since_, absl::Milliseconds(1)))));
  stands_since_.reset();
}

std::string SchedulerCore::DescribeStorage() const {
  const absl::Duration stands = context_.StorageStandsFor();
  if (stands < kStorageStandsAfter) return "";
  return absl::StrCat("the state", storage_.empty() ? "" : absl::StrCat(", which is kept ", storage_, ","),
                      " has not been written for ", absl::FormatDuration(absl::Trunc(stands, absl::Seconds(1))),
                      ": its storage is slow or stands");
}

void SchedulerCore::StopAfterFarewell() {
  // Nodes hear of the end when it is durable.
  if (!context_.outbox.IsAllDurable()) return;
  farewell_.Begin(context_.now, over_before_.has_value());
  if (stop_.has_value() || !farewell_.IsDue(context_.now, members_.table())) return;
  const absl::Status end = job_.EndStatus();
  stop_ =
      over_before_.value_or(end.ok() ? end : absl::Status(end.code(), absl::StrCat("the job failed: ", end.message())));
  StopIfDurable();
}

void SchedulerCore::StopIfDurable() {
  if (!stop_.has_value() || !context_.outbox.IsAllDurable()) return;
  traces_.End("the scheduler stops");
  context_.outbox.Stop(*stop_);
  job_.Stop();
}

void SchedulerCore::End() {
  job_.End();
  context_.Persist(EndRecord{"all nodes have left", JobEnd::kDone});
  members_.End();
  policies_.DropPlan();
  policies_.reconfigurator().Refuse("the job has ended");
  context_.LogInfo("all nodes have left: the job is done");
}

WaitAnswers SchedulerCore::MakeWaitAnswers() const {
  std::vector<std::string> lately_out;
  for (LinkOutages::Outage& outage : policies_.replanner().outages().Lately(context_.now)) {
    lately_out.push_back(std::move(outage.why));
  }
  return WaitAnswers({overlay_, members_.table(), reports_, keys_.table(), rounds_, job_.IsRunning(),
                      epochs_.WaitsFor(), transfers_.Describe(), barriers_.Missing(), order_.disorder(),
                      policies_.cutter().WaitsFor(), std::move(lately_out), DescribeStorage()});
}

JobStatus SchedulerCore::Status() const {
  const std::optional<OpenRound> open = FindOpenRound(keys_.table(), rounds_, members_.table(), reports_);
  return MakeStatus(StatusSources{job_.job(),
                                  job_.PhaseName(),
                                  std::string(job_.failure().message()),
                                  job_.term(),
                                  job_.epoch(),
                                  context_.rejections.count(),
                                  context_.now,
                                  policies_.replanner().predicted_round(),
                                  members_.table(),
                                  reports_,
                                  policies_.replanner().links(),
                                  keys_.table(),
                                  rounds_,
                                  policies_.policies(),
                                  policies_.replanner().policies_taken_back(),
                                  epochs_.reason(),
                                  epochs_.WaitsFor(),
                                  &epochs_.history(),
                                  policies_.replanner().outages().All(),
                                  barriers_.Missing(),
                                  last_progress_,
                                  transfers_.Describe(),
                                  open,
                                  open.has_value() ? MakeWaitAnswers().Describe(*open) : "",
                                  order_.disorder(),
                                  policies_.replanner().inferred(),
                                  &precision_,
                                  policies_.replanner().ways(),
                                  keyless_address_,
                                  DescribeStorage()});
}

}  // namespace banyan
