#include "node/node_core.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "node/policy_table.h"
#include "node/rounds/chunk_computations.h"
#include "node/scheduler_client.h"
#include "node/transcript/transcript_recorder.h"
#include "node/transcript/transcript_replayer.h"
#include "node/votes/vote_computations.h"
#include "proto/precision/vote_rules.h"

namespace banyan {
namespace {

// So much work that its start counts little; 256 KiB of floats.
constexpr int64_t kSampleElements = 1 << 16;
// Votes are small: as many summands as a node with many children has.
constexpr size_t kSampleVotes = 8;

// Measures how fast this node works on floats and votes, before rounds do: on a small sample, by the computations of
// rounds themselves. ComputationTable has the outcome; the results are dropped. `computations` outlives the work.
void MeasureServices(StepContext& step, ComputationTable* computations, const VoteRules& rules) {
  const Buffer sample = Buffer::Allocate(kSampleElements);
  const CheckedChunk floats = EncodeChunk({.codec = CodecId::kFp32}, sample, 1);
  computations->Start<AccumulateChunk>(
      step,
      std::make_unique<AccumulateChunk>(Buffer(), true, std::vector<CheckedChunk>(2, floats), kSampleElements,
                                        DataType::kFloat32, computations->device()),
      [](StepContext&, AccumulateChunk&) {});
  computations->Start<CastVotes>(
      step,
      std::make_unique<CastVotes>(std::vector<Buffer>{sample},
                                  std::vector<CastVotes::Chunk>{{{0, kSampleElements}, {0, kSampleElements}}}, rules),
      [computations](StepContext& later, CastVotes& done) {
        std::vector<CheckedChunk> votes(kSampleVotes, done.votes().front());
        computations->Start<AddVotes>(later, std::make_unique<AddVotes>(std::move(votes)),
                                      [](StepContext&, AddVotes&) {});
      });
}

constexpr size_t kMostEarlyHellos = 1 << 14;

std::unique_ptr<NodeScript> MakeScript(const NodeOptions& options) {
  if (options.replayed != nullptr) return std::make_unique<TranscriptReplayer>(options.replayed);
  return options.records_transcript ? std::make_unique<TranscriptRecorder>(options.name) : nullptr;
}

Join JoinOf(const NodeOptions& options) {
  Join join;
  join.job = options.job;
  join.name = options.name;
  join.address = options.address;
  join.incarnation = options.incarnation;
  return join;
}

// The request that waits behind a call; none for a WorkerDetach.
std::optional<RequestId> RequestOf(const WorkerCall& call) {
  return std::visit(
      [](const auto& concrete) -> std::optional<RequestId> {
        if constexpr (std::is_same_v<std::decay_t<decltype(concrete)>, WorkerDetach>) {
          return std::nullopt;
        } else {
          return concrete.request;
        }
      },
      call);
}

}  // namespace

void EarlyCalls::Refuse(StepContext& step, const absl::Status& why) {
  for (const WorkerCall& call : Take()) Refuse(step, call, why);
}

void EarlyCalls::Refuse(StepContext& step, const WorkerCall& call, const absl::Status& why) {
  const std::optional<RequestId> request = RequestOf(call);
  if (!request.has_value()) return;
  step.actions.emplace_back(std::in_place_type<CompleteRequest>, CompleteRequest{*request, why, KeyId(), Round()});
}

NodeCore::NodeCore(NodeOptions options)
    : options_(std::move(options)),
      computations_(options_.compute_threads, *options_.device),
      scheduler_(JoinOf(options_), options_.scheduler_addresses),
      tracer_(options_.name, options_.recorder),
      script_(MakeScript(options_)),
      end_(options_.ends_with_job) {}

NodeCore::~NodeCore() = default;

Actions NodeCore::Step(Timestamp now, Event event) {
  Actions actions;
  StepContext step{now, actions, rejections_};
  std::visit([&](auto& happened) { Handle(step, happened); }, event);
  EndScriptStep(step);
  CarryStateMail(step);
  TakeFailure(step);
  LeaveIfOver(step);
  scheduler_.Collect(step);
  if (end_.status().has_value()) actions.emplace_back(std::in_place_type<banyan::Stop>, banyan::Stop{*end_.status()});
  return actions;
}

void NodeCore::EndScriptStep(StepContext& step) {
  if (script_ == nullptr) return;
  const bool goes_on = joined_.has_value() && failed_.ok() && failure_.ok();
  const absl::Status status = script_->EndStep(step, goes_on ? joined_->local_workers.get() : nullptr,
                                               goes_on ? joined_->engine.get() : nullptr);
  if (goes_on && !status.ok()) FailScript(step, status);
}

Timestamp NodeCore::NextDeadline() const {
  const Timestamp of_scheduler = std::min(scheduler_.NextDeadline(), end_.NextDeadline());
  if (!joined_.has_value()) return of_scheduler;
  return std::min({of_scheduler, joined_->network->NextDeadline(), joined_->engine->NextDeadline(),
                   joined_->state->NextDeadline(), joined_->local_workers->NextDeadline()});
}

void NodeCore::Handle(StepContext& step, MessageReceived& received) {
  if (scheduler_.Owns(received.connection)) {
    // What another one says that leads no more is of the past.
    if (scheduler_.ListensTo(received.connection)) OnSchedulerMessage(step, std::move(received.message));
    return;
  }
  if (std::optional<Message> answer = AnswerAsNoScheduler(received.message, options_.name, scheduler_.address())) {
    rejections_.Reject("message for a scheduler", absl::StrCat("on connection ", received.connection.value()),
                       step.actions);
    return step.SendTo(received.connection, *std::move(answer));
  }
  if (joined_.has_value()) return joined_->network->OnMessage(step, std::move(received));
  // Said once per connection. Whatever else comes is not acknowledged and so comes again.
  const auto* hello = std::get_if<PeerHello>(&received.message);
  if (hello != nullptr && early_hellos_.size() < kMostEarlyHellos) {
    early_hellos_[received.connection] = *hello;
    return;
  }
  rejections_.Reject("message before this node has joined", absl::StrCat("on connection ", received.connection.value()),
                     step.actions);
}

void NodeCore::Handle(StepContext& step, MessageRejected& rejected) {
  rejections_.Reject(RejectionLog::KindOf(rejected), rejected.reason.message(), step.actions);
  if (scheduler_.ListensTo(rejected.connection)) return CannotFollow(step, "message", rejected.reason);
  if (joined_.has_value()) joined_->network->OnRejected(step, rejected.connection, rejected.reason);
}

void NodeCore::Handle(StepContext& step, ConnectionUp& up) {
  if (scheduler_.Owns(up.connection)) return scheduler_.OnConnectionUp(step, up.connection);
  if (joined_.has_value()) joined_->network->OnConnectionUp(step, up.connection);
}

void NodeCore::Handle(StepContext& step, ConnectionDown& down) {
  if (scheduler_.Owns(down.connection)) return scheduler_.OnConnectionDown(step, down.connection);
  early_hellos_.erase(down.connection);
  if (joined_.has_value()) joined_->network->OnConnectionDown(step, down.connection);
}

void NodeCore::Handle(StepContext& step, DeadlineReached&) {
  const bool is_heartbeat = scheduler_.OnDeadline(step);
  if (is_heartbeat && joined_.has_value()) {
    Report(step);
    if (failed_.ok()) ReportMissingValues(step);
  }
  if (end_.IsDue(step.now)) StopNow(step);
  if (!joined_.has_value()) return;
  joined_->network->OnDeadline(step);
  joined_->engine->OnDeadline(step);
  joined_->state->OnDeadline(step);
  if (scheduler_.Silence(step.now) > joined_->config.lost_after) joined_->state->workers().OnSchedulerSilent(step);
  joined_->local_workers->OnDeadline(step);
  const absl::Duration longest = joined_->config.scheduler_lost_after;
  if (failed_.ok() && scheduler_.Silence(step.now) > longest) {
    // Who has finished misses nothing.
    if (left_) end_.OnJobOver(absl::OkStatus());
    Fail(absl::UnavailableError(absl::StrCat("nothing heard from the scheduler at ", scheduler_.address(), " for ",
                                             absl::FormatDuration(longest), "; restart the job")));
  }
}

void NodeCore::Handle(StepContext& step, WorkerCalled& called) {
  if (joined_.has_value()) {
    const auto* detach = std::get_if<WorkerDetach>(&called.call);
    if (detach != nullptr) joined_->state->workers().OnWorkerGone(step, detach->worker);
    return OnWorkerCall(step, std::move(called.call));
  }
  if (!failed_.ok()) return EarlyCalls::Refuse(step, called.call, failed_);
  if (const auto* question = std::get_if<WorkerDescribeWait>(&called.call); question != nullptr) {
    return WaitQuestions(options_.name, &scheduler_).AnswerBeforeJoin(step, *question);
  }
  if (early_calls_.has_room()) return early_calls_.Keep(std::move(called.call));
  EarlyCalls::Refuse(
      step, called.call,
      absl::ResourceExhaustedError(absl::StrCat("more than ", kMostEarlyCalls, " calls wait for ", options_.name,
                                                " to join the scheduler at ", scheduler_.address())));
}

void NodeCore::StopNow(StepContext& step) {
  end_.Stop(end_.due_status());
  if (!std::exchange(left_, true)) scheduler_.Announce(step, Leave{"it was stopped", true});
  Fail(absl::UnavailableError(absl::StrCat("node ", options_.name, " was stopped")), LogLevel::kInfo);
}

bool NodeCore::IsForgotten(const JoinAccepted& accepted) {
  if (!scheduler_.IsForgetful(accepted)) return false;
  if (!started_) {
    // Nothing is lost but the joins, which all nodes say again.
    scheduler_.StartAnew();
    return false;
  }
  Fail(absl::FailedPreconditionError(
      absl::StrCat("the scheduler at ", scheduler_.address(),
                   " lost its records; restart the job, and run the scheduler with --state-dir to keep them")));
  return true;
}

void NodeCore::OnSchedulerMessage(StepContext& step, Message message) {
  // Without an answer it hears no heartbeat of this start of the node, and takes another one.
  const auto* accepted = std::get_if<JoinAccepted>(&message);
  if (accepted != nullptr && IsForgotten(*accepted)) return;
  std::visit(
      [&](auto& concrete) {
        if constexpr (requires {
                        this->On(step, concrete);
                        concrete.term;
                      }) {
          if (scheduler_.AcceptTerm(step, concrete.term)) On(step, concrete);
        } else {
          rejections_.Reject("message that no scheduler sends", "from the scheduler", step.actions);
        }
      },
      message);
}

void NodeCore::On(StepContext& step, const JoinAccepted& accepted) {
  scheduler_.OnJoinAccepted(step, accepted);
  if (options_.learned_schedulers != nullptr) *options_.learned_schedulers = scheduler_.addresses();
  if (const absl::Status sound = script_ == nullptr ? absl::OkStatus() : script_->OnJoined(accepted); !sound.ok()) {
    FailScript(step, sound);
    return end_.Stop(sound);
  }
  if (joined_.has_value()) {
    if (joined_->self == accepted.node) {
      for (PeerLost& lost : joined_->network->LostNeighbours(step.now)) OnPeerLost(step, lost);
      joined_->state->OnSchedulerConnected(step, accepted.term);
      tracer_.Stop();
      // The last one may have been lost with the connection.
      last_report_.reset();
      return ReportLostWorker(step);
    }
    return Fail(absl::FailedPreconditionError(
        absl::StrCat("the scheduler at ", scheduler_.address(), " knew ", options_.name, " as node ",
                     joined_->self.value(), " and now as ", accepted.node.value(), ": it lost its records")));
  }
  joined_.emplace();
  joined_->self = accepted.node;
  joined_->config = accepted.config;
  PeerNetwork::Listener* network_listener = this;
  RoundEngine::Listener* engine_listener = this;
  LocalWorkers::Listener* workers_listener = this;
  joined_->network = std::make_unique<PeerNetwork>(
      PeerNetwork::Identity{accepted.config.job, accepted.term, accepted.node, options_.incarnation, options_.name},
      accepted.config, PeerNetwork::LimitsOf(accepted.config, options_.loss_limited), network_listener,
      &tracer_.recorder());
  joined_->engine =
      std::make_unique<RoundEngine>(accepted.node, options_.incarnation, accepted.config, &policy_table_,
                                    joined_->network.get(), &computations_, engine_listener, script_.get());
  joined_->local_workers =
      std::make_unique<LocalWorkers>(options_.name, accepted.config, &policy_table_, joined_->engine.get(), &scheduler_,
                                     &computations_, workers_listener);
  joined_->state =
      std::make_unique<StateTransfers>(accepted.config, &joined_->engine->replicas(), joined_->local_workers.get());
  joined_->state->OnSchedulerConnected(step, accepted.term);
  if (accepted.config.low_bit.has_value()) MeasureServices(step, &computations_, *accepted.config.low_bit);
  step.Log(LogLevel::kInfo,
           absl::StrCat(options_.name, " has joined job '", accepted.config.job, "' as node ", accepted.node.value()));
  for (auto& [connection, hello] : std::exchange(early_hellos_, {})) {
    joined_->network->OnMessage(step, MessageReceived{connection, std::move(hello), {}});
  }
  for (WorkerCall& call : early_calls_.Take()) OnWorkerCall(step, std::move(call));
}

void NodeCore::On(StepContext& step, const JoinRefused& refused) {
  if (refused.job_is_over) return OnJobOver(step, refused.reason);
  // Another start of the node may join.
  absl::Status status =
      refused.fell_out
          ? absl::AbortedError(absl::StrCat(options_.name, " fell out of the job (epoch ", epochs_.begun().value(),
                                            "): ", refused.reason))
          : absl::FailedPreconditionError(absl::StrCat("the scheduler refused ", options_.name, ": ", refused.reason));
  step.Log(LogLevel::kError, std::string(status.message()));
  Fail(status);
  end_.Stop(status);
}

void NodeCore::OnJobOver(StepContext& step, const std::string& reason) {
  // Who came in vain has no reason to stay; who has finished may be asked to, until a worker comes in vain.
  const bool has_finished = left_ && joined_.has_value() && joined_->local_workers->attached() == 0;
  if (has_finished) {
    step.Log(LogLevel::kInfo, absl::StrCat(options_.name, ": the job is done: ", reason));
    return end_.OnJobOver(absl::OkStatus());
  }
  Fail(absl::FailedPreconditionError(absl::StrCat(options_.name, " has nothing left to do: ", reason)),
       LogLevel::kInfo);
  end_.Stop(absl::OkStatus());
}

void NodeCore::On(StepContext& step, const MembershipUpdate& update) {
  started_ = started_ || update.started;
  epochs_.OnMembership(update.epoch);
  if (update.members != members_) {
    members_ = update.members;
    step.actions.emplace_back(std::in_place_type<NotifyMembers>, NotifyMembers{update.epoch, members_});
  }
  std::string text = absl::StrCat("epoch ", update.epoch.value(), ": ", update.joined);
  // How many start it counts no more once they have, or more have come.
  const bool counts = !update.started && update.joined <= update.expected;
  if (counts) absl::StrAppend(&text, " of ", update.expected);
  absl::StrAppend(&text, (counts ? update.expected : update.joined) == 1 ? " node" : " nodes");
  const std::string awaited = absl::StrJoin(update.waiting_for, ", ");
  if (!update.started && !awaited.empty()) absl::StrAppend(&text, ", waiting for ", awaited);
  step.Log(LogLevel::kInfo, std::move(text));
}

void NodeCore::On(StepContext& step, const KeysAssigned& assigned) {
  if (!joined_.has_value() || !failed_.ok()) return;
  const absl::Status added = policy_table_.AddKeys(assigned.keys);
  if (!added.ok()) return CannotFollow(step, "key table", added);
  if (policy_table_.keys().size() >= next_keys_told_) {
    step.Log(
        LogLevel::kWarning,
        absl::StrCat("the job has ", policy_table_.keys().size(),
                     " keys; a name is for the life of a job and takes memory at each node for so long: use the same "
                     "ones in each step, and InitGroup for many small tensors"));
    while (next_keys_told_ <= policy_table_.keys().size()) next_keys_told_ *= 2;
  }
  if (script_ != nullptr) script_->OnKeys(assigned);
  std::vector<std::string> names;
  std::vector<KeyId> keys;
  for (const KeySlice& row : assigned.keys) {
    names.push_back(row.name);
    keys.push_back(row.key);
  }
  joined_->local_workers->OnKeysAssigned(step, names);
  joined_->engine->OnBookChanged(step, keys);
}

void NodeCore::On(StepContext& step, const PolicyPublished& published) {
  if (!joined_.has_value() || !failed_.ok()) return;
  absl::Status added = CheckSlice(published.slice, joined_->self);
  if (added.ok()) added = policy_table_.AddSlice(published.slice);
  // Said again after every reconnect.
  if (added.code() == absl::StatusCode::kAlreadyExists) return;
  if (!added.ok()) return CannotFollow(step, "policy", added);
  const Epoch epoch = published.slice.epoch;
  if (epochs_.is_first()) {
    epochs_.Begin(epoch);
    if (script_ != nullptr) script_->OnEpoch(epoch);
    joined_->engine->BeginFirstEpoch(epoch);
  }
  BeginEpoch(step, epoch, "a policy of it has come");
  epochs_.OnPolicy(epoch);
  joined_->network->AddPolicy(step, published.slice);
}

void NodeCore::BeginEpoch(StepContext& step, Epoch epoch, const std::string& reason) {
  if (!epochs_.Begin(epoch)) return;
  if (script_ != nullptr) script_->OnEpoch(epoch);
  // Whoever broke a round may be gone. If not, the next attempt shows it again.
  complained_of_.erase(complained_of_.upper_bound(NodeId()), complained_of_.end());
  scheduler_.TakeBackComplaints();
  joined_->engine->BeginEpoch(epoch);
  joined_->state->OnEpochBegin();
  step.Log(LogLevel::kInfo, absl::StrCat("epoch ", epoch.value(), " begins: ", reason));
}

void NodeCore::On(StepContext& step, const EpochBegin& begin) {
  if (!joined_.has_value() || !failed_.ok()) return;
  BeginEpoch(step, begin.epoch, begin.reason);
  // Said again after a reconnect, as long as there is no plan.
  if (begin.epoch != epochs_.begun() || !epochs_.is_changing()) return;
  EpochReport report{begin.epoch, joined_->engine->Progress([this](KeyId key) {
                       return epochs_.was_member() || joined_->engine->HasContributed(key);
                     }),
                     !epochs_.was_member() || joined_->engine->replicas().LacksAny()};
  scheduler_.Send(step, std::move(report));
}

void NodeCore::On(StepContext& step, EpochPlan& part) {
  if (!joined_.has_value() || !failed_.ok()) return;
  const absl::StatusOr<std::optional<EpochPlan>> whole = epochs_.Join(std::move(part));
  if (!whole.ok()) return CannotFollow(step, "epoch plan", whole.status());
  if (!whole->has_value()) return;
  const EpochPlan& plan = **whole;
  BeginEpoch(step, plan.epoch, "its plan has come");
  const bool is_fresh = epochs_.IsFreshUnder(plan);
  if (!epochs_.TakePlan(plan.epoch)) return;
  const absl::Status added = policy_table_.AddPlan(plan);
  if (!added.ok()) return CannotFollow(step, "epoch plan", added);
  for (const EpochPlan::Frontier& frontier : plan.frontiers) {
    policy_table_.ForEachKey({frontier.first_key, frontier.last_key},
                             [&](KeyId key) { scheduler_.OnFrontier(key, frontier.first_open); });
  }
  for (const EpochPlan::Binding& binding : plan.bindings) {
    policy_table_.ForEachKey({binding.first_key, binding.last_key},
                             [&](KeyId key) { scheduler_.OnBound(key, binding.first_round, binding.last_round); });
  }
  joined_->engine->UsePlan(step, plan, is_fresh);
  joined_->local_workers->OnEpochPlan(step, plan, is_fresh);
  for (const RoundsClosed::Entry& entry : joined_->engine->CompleteRounds()) {
    scheduler_.ReportClosed(entry.key, entry.round, entry.hash, policy_table_.keys().size());
  }
  scheduler_.OnNewEpoch();
  if (failed_.ok()) ReportMissingValues(step);
  joined_->state->OnEpochPlan(step);
  step.Log(LogLevel::kInfo, absl::StrCat("epoch ", plan.epoch.value(), " goes on under policy ", plan.policy.value(),
                                         is_fresh ? ", which this node has joined" : "", "; ",
                                         joined_->engine->stale_chunks(), " chunks of earlier ones came so far"));
}

void NodeCore::On(StepContext& step, const PolicyAnswer& answer) {
  if (!joined_.has_value() || !failed_.ok() || answer.epoch < epochs_.begun()) return;
  std::vector<KeyId> keys;
  for (const PolicyAnswer::Binding& binding : answer.bindings) {
    const absl::Status added = policy_table_.AddBinding(binding);
    if (!added.ok()) {
      CannotFollow(step, "policy answer", added);
      continue;
    }
    scheduler_.OnPolicyAnswered(binding);
    tracer_.recorder().OnPolicy(binding.key, binding.first_round, binding.last_round, step.now);
    keys.push_back(binding.key);
  }
  joined_->engine->OnBookChanged(step, keys);
}

void NodeCore::On(StepContext& step, const ClosedEverywhere& closed) {
  for (const ClosedEverywhere::Entry& entry : closed.entries) {
    scheduler_.OnClosedEverywhere(entry.key, entry.round);
    if (!joined_.has_value()) continue;
    joined_->engine->OnClosedEverywhere(step, entry.key, entry.round);
  }
  if (joined_.has_value()) tracer_.OnClosed(step, TracedParts());
}

PeerNetwork::Verdict NodeCore::OnChunk(StepContext& step, ChunkMessage message, Payload payload) {
  // Nobody waits for an answer any more.
  if (!failed_.ok()) return PeerNetwork::Verdict::kRefused;
  if (message.id.half == Half::kState) {
    joined_->state->OnPeerMessage(step, std::move(message), payload);
    return PeerNetwork::Verdict::kTaken;
  }
  return joined_->engine->OnChunk(step, std::move(message), std::move(payload));
}

void NodeCore::OnPeerLost(StepContext& step, const PeerLost& lost) {
  if (!failed_.ok()) return;
  // The neighbour may have left on purpose: the scheduler knows, and says so when the job cannot go on.
  step.Log(LogLevel::kWarning, absl::StrCat("lost neighbour ", joined_->network->NameOf(lost.peer), ": ", lost.reason));
  // A scheduler that is away hears of those that are lost still when it is back.
  if (scheduler_.joined()) scheduler_.Send(step, lost);
}

void NodeCore::OnRoundComplete(StepContext& step, KeyId key, Round round, uint64_t hash) {
  if (script_ != nullptr) script_->OnComplete(key, round, hash);
  tracer_.recorder().OnCompleted(key, round, step.now);
  scheduler_.ReportClosed(key, round, hash, policy_table_.keys().size());
  joined_->local_workers->OnRoundComplete(step, key, round);
  joined_->state->OnRoundComplete(step);
  const auto ended = joined_->network->OnRoundComplete(key, round, policy_table_.keys().size(), step.now);
  if (!ended.has_value()) return;
  std::vector<LinkRoom::Observation> links;
  for (const PeerNetwork::LinkRound& link : *ended) {
    links.push_back({link.neighbour,
                     {.sent_bytes = link.sent_bytes,
                      .duration = link.busy,
                      .delay = link.busy,
                      .budget_share = policy_table_.BudgetShareOf(link.neighbour),
                      .lost = link.resent},
                     link.results_in_time});
  }
  joined_->engine->ObserveLinks(links);
}

void NodeCore::CannotFollow(StepContext& step, absl::string_view what, const absl::Status& why) {
  rejections_.Reject(what, why.message(), step.actions);
  // It may say the same of many keys.
  if (std::exchange(cannot_follow_, true)) return;
  const std::string reason = absl::StrCat("it cannot take the scheduler's ", what, ": ", why.message());
  step.Log(LogLevel::kError, absl::StrCat(options_.name, " falls out: ", reason));
  scheduler_.Announce(step, banyan::CannotFollow{reason});
}

void NodeCore::OnRoundBroken(StepContext& step, KeyId key, Round round, NodeId culprit, const std::string& reason) {
  // One reason is enough: a broken round is noticed with each of its chunks.
  if (!failure_.ok() || !complained_of_.insert(culprit).second) return;
  scheduler_.Announce(step, RoundBroken{key, round, culprit, reason});
  const KeySlice* row = policy_table_.FindKey(key);
  std::string what = absl::StrCat(options_.name, " cannot finish round ", round.value(), " of key '",
                                  row == nullptr ? "?" : row->name, "': ");
  // What is wrong is wrong here: nothing more of it goes to others.
  if (culprit == NodeId()) return Fail(absl::UnavailableError(absl::StrCat(what, reason, "; restart the job")));
  step.Log(LogLevel::kError, absl::StrCat(what, joined_->network->NameOf(culprit), ": ", reason,
                                          "; it waits until the scheduler says which node leaves the job"));
}

void NodeCore::OnWorkerLost(StepContext& step, WorkerId worker, const std::string& reason) {
  step.Log(LogLevel::kWarning,
           absl::StrCat(options_.name, ": ", reason, "; the node contributes nothing until another worker attaches"));
  worker_lost_ = WorkerLost{worker, reason};
  ReportLostWorker(step);
}

void NodeCore::LeaveIfOver(StepContext& step) {
  if (!workers_done_ || left_) return;
  // A worker may have come since, which is not done.
  const bool is_over = !failed_.ok() || (joined_->local_workers->attached() == 0 && joined_->engine->IsIdle());
  if (!is_over) return;
  left_ = true;
  tracer_.OnLeaving(step, TracedParts());
  scheduler_.Announce(step, Leave{"its workers are done"});
  // What is said from now on tells of workers that come too late.
  last_report_.reset();
  end_.OnLeft();
}

void NodeCore::Fail(absl::Status status, LogLevel level) {
  if (!failure_.ok()) return;
  failure_ = std::move(status);
  failure_level_ = level;
}

void NodeCore::CarryStateMail(StepContext& step) {
  while (joined_.has_value() && joined_->state->HasMail()) {
    StateMail mail = joined_->state->TakeMail();
    for (Message& message : mail.to_scheduler) {
      if (scheduler_.joined()) scheduler_.Send(step, std::move(message));
    }
    for (auto& [message, payload] : mail.to_nodes) {
      if (auto* chunk = std::get_if<ChunkMessage>(&message)) {
        const PolicySlice* slice = policy_table_.newest_slice();
        // The joiner asks again when there is a way.
        if (slice == nullptr || !joined_->network->IsNeighbour(chunk->route.receiver())) continue;
        chunk->policy = slice->version;
        chunk->id.epoch = epochs_.begun();
        chunk->source_incarnation = options_.incarnation;
        joined_->network->SendChunk(step, std::move(*chunk), std::move(payload));
      } else {
        std::visit(
            [&](auto& concrete) {
              if constexpr (requires { concrete.route; }) joined_->network->SendOn(step, std::move(concrete));
            },
            message);
      }
    }
    if (mail.changed_replicas.empty()) continue;
    joined_->engine->OnBookChanged(step, mail.changed_replicas);
    joined_->local_workers->OnReplicasChanged(step, mail.changed_replicas);
  }
}

void NodeCore::TakeFailure(StepContext& step) {
  if (failure_.ok() || !failed_.ok()) return;
  failed_ = failure_;
  step.Log(failure_level_, std::string(failed_.message()));
  end_.OnFailure(step.now, failed_);
  early_calls_.Refuse(step, failed_);
  computations_.Clear();
  if (!joined_.has_value()) return;
  joined_->local_workers->FailAll(step, failed_);
  if (script_ != nullptr) {
    for (WorkerCall& call : script_->ReturnCalls()) joined_->local_workers->OnCall(step, std::move(call));
  }
  joined_->state->FailAll(step, failed_);
  joined_->engine->Clear();
  joined_->network->DropChunks();
}

// ---- what it tells the scheduler of itself ----

NodeReport NodeCore::MakeReport(StepContext& step) const {
  NodeReport report;
  joined_->local_workers->AddTo(report);
  report.rejected_messages = rejections_.total();
  report.links = joined_->network->LinkReport(step.now);
  for (NodeReport::Memory& row : joined_->engine->MemoryReport()) report.memory.push_back(std::move(row));
  report.memory.push_back({"undelivered", static_cast<uint64_t>(joined_->network->undelivered_bytes())});
  report.memory.push_back({"relayed", static_cast<uint64_t>(joined_->network->relay_bytes())});
  report.memory.push_back({"unknown", static_cast<uint64_t>(joined_->network->unknown_bytes())});
  report.memory.push_back({"fetched replicas", static_cast<uint64_t>(joined_->state->replica_bytes())});
  return report;
}

void NodeCore::Report(StepContext& step) {
  NodeReport report = MakeReport(step);
  if (last_report_.has_value() && *last_report_ == report) return;
  last_report_ = report;
  scheduler_.Send(step, std::move(report));
  // It speaks of workers that are attached, and these are no help where the node abstains.
  if (joined_->local_workers->attached() > 0) ReportLostWorker(step);
}

void NodeCore::ReportLostWorker(StepContext& step) {
  if (!scheduler_.joined()) return;
  std::optional<WorkerLost> lost = worker_lost_;
  if (joined_->local_workers->attached() > 0) {
    // The one that came in its place has no part in these rounds either.
    if (!joined_->engine->IsAbstaining()) return;
    lost = WorkerLost{WorkerId(), "the worker that attached since takes no part in open rounds"};
  }
  if (!lost.has_value()) return;
  lost->has_values = joined_->engine->HasBroadcastValues();
  scheduler_.Send(step, *std::move(lost));
}

void NodeCore::ReportMissingValues(StepContext& step) {
  const PolicySlice* slice = policy_table_.newest_slice();
  const bool is_source = slice != nullptr && slice->source == joined_->self;
  if (is_source) ReportLostWorker(step);
}

}  // namespace banyan
