#include "sim/job_processes.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "node/node_core.h"
#include "protocol/tap.h"
#include "scheduler/members/job_config_maker.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/state/recovered_state.h"

namespace banyan {
namespace {

// Makes a node's measurements of links worse than they are: each rate that it reports is multiplied by a factor of its
// own, normally distributed around 1. Thread-compatible.
class NoisyReports : public Tap {
 public:
  // `deviation` is the standard deviation of the factor; 0.1 is 10%.
  NoisyReports(std::unique_ptr<Protocol> core, double deviation, Random random)
      : Tap(std::move(core)), deviation_(deviation), random_(random) {}

 private:
  // No factor is so low that a link would seem dead.
  static constexpr double kLowestFactor = 0.1;

  bool OnAction(Action& action) override {
    auto* const send = std::get_if<Send>(&action);
    auto* const report = send == nullptr ? nullptr : std::get_if<NodeReport>(&send->message);
    if (report == nullptr) return true;
    for (NodeReport::Link& link : report->links) {
      if (link.measurement.has_value()) link.measurement->rate_bps *= Factor();
    }
    return true;
  }

  // The sum of twelve uniform values has variance 1 and is as good as normal up to three deviations.
  double Factor() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random_.Unit();
    return std::max(kLowestFactor, 1 + deviation_ * sum);
  }

  double deviation_;
  Random random_;
};

constexpr int64_t kLatestClockStartNs = int64_t{1} << 50;  // thirteen days
// Until a node that fell out is started again.
constexpr absl::Duration kRestartPause = absl::Milliseconds(100);
// Likewise of one that was removed and is not let in.
constexpr absl::Duration kRefusedPause = absl::Seconds(1);
// Within which a scheduler refuses an overlay file.
constexpr absl::Duration kRefusalTime = absl::Seconds(1);
constexpr uint64_t kStartsSeed = 0x5EED;
constexpr char kStandbyAddress[] = "tcp://standby:7701";

}  // namespace

WorkerCrew::WorkerCrew(NodeId node, const TrainingPlan* plan, SimulatedProcess* process, Agenda* agenda,
                       WorkerListener* listener)
    : node_(node), plan_(plan), process_(process), agenda_(agenda), listener_(listener) {}

std::unique_ptr<SimulatedWorker> WorkerCrew::Make(WorkerId worker, uint64_t seed) const {
  const auto start = worker.value() < starts_.size() ? static_cast<uint32_t>(starts_[worker.value()].size()) : 0;
  return std::make_unique<SimulatedWorker>(WorkerName{node_, worker}, start, plan_, seed, process_, agenda_, listener_);
}

void WorkerCrew::Add(uint64_t seed) {
  const WorkerId worker(static_cast<uint32_t>(starts_.size()));
  std::unique_ptr<SimulatedWorker> first = Make(worker, seed);
  starts_.emplace_back().push_back(std::move(first));
  is_started_.push_back(false);
}

void WorkerCrew::StartAll() {
  for (uint32_t i = 0; i < starts_.size(); ++i) {
    if (is_started_[i]) continue;
    is_started_[i] = true;
    listener_->OnStarted(agenda_->now(), {node_, WorkerId(i)});
    current(WorkerId(i))->Start();
  }
}

void WorkerCrew::Restart(WorkerId worker, uint64_t seed) {
  BANYAN_CHECK(current(worker)->lost());
  was_over_ = HasEnded();
  current(worker)->Abandon();
  starts_[worker.value()].push_back(Make(worker, seed));
  is_started_[worker.value()] = false;
  if (process_->running()) StartAll();
}

void WorkerCrew::Kill(WorkerId worker) {
  if (current(worker)->finished() || current(worker)->dead()) return;
  listener_->OnEnded(agenda_->now(), {node_, worker});
  current(worker)->Die();
}

bool WorkerCrew::IsDone() const {
  return std::all_of(starts_.begin(), starts_.end(), [](const auto& starts) { return starts.back()->finished(); });
}

bool WorkerCrew::HasEnded() const {
  const auto has_finished = [](const auto& starts) { return starts.back()->finished(); };
  const auto has_ended = [](const auto& starts) { return starts.back()->finished() || starts.back()->dead(); };
  return was_over_ || (std::any_of(starts_.begin(), starts_.end(), has_finished) &&
                       std::all_of(starts_.begin(), starts_.end(), has_ended));
}

void WorkerCrew::OnAsked(const StateTask& task) {
  const auto* read = std::get_if<ReadState>(&task);
  const auto* write = std::get_if<WriteState>(&task);
  for (uint32_t i = 0; i < starts_.size(); ++i) {
    const bool is_of_another =
        (read != nullptr && read->worker != WorkerId(i)) || (write != nullptr && write->worker != WorkerId(i));
    if (!is_of_another && is_started_[i]) current(WorkerId(i))->OnAsked(task);
  }
}

void WorkerCrew::OnEnded() {
  for (uint32_t i = 0; i < starts_.size(); ++i) {
    const bool was_up = is_started_[i] && !current(WorkerId(i))->lost() && !current(WorkerId(i))->finished();
    if (was_up) listener_->OnEnded(agenda_->now(), {node_, WorkerId(i)});
    if (is_started_[i]) current(WorkerId(i))->OnNodeEnded();
  }
}

SimulatedWorker* WorkerCrew::WhoAsked(RequestId request) const {
  const uint64_t worker = (request.value() >> SimulatedWorker::kWorkerShift) - 1;
  const uint64_t within = request.value() & ((uint64_t{1} << SimulatedWorker::kWorkerShift) - 1);
  return starts_.at(worker).at(within >> SimulatedWorker::kStartShift).get();
}

JobProcesses::JobProcesses(const ClusterOptions* options, const OverlayConfig* scaled, Simulator* simulator,
                           WorkerListener* listener)
    : options_(*options),
      scaled_(*scaled),
      simulator_(simulator),
      listener_(listener),
      random_(options->seed ^ kStartsSeed) {
  if (options_.standby.has_value()) {
    AddStandby();
  } else {
    AddScheduler();
  }
  for (uint32_t id = 1; id <= scaled_.nodes.size(); ++id) AddNode(NodeId(id));
  if (!options_.orders.empty()) AddOperator();
}

Timestamp JobProcesses::RandomStart() {
  return Timestamp::FromNanoseconds(simulator_->random()->Between(0, absl::ToInt64Nanoseconds(options_.start_within)));
}

ProcessOptions JobProcesses::OptionsOfProcess() {
  ProcessOptions options = options_.process;
  options.clock_start = Timestamp::FromNanoseconds(simulator_->random()->Between(0, kLatestClockStartNs));
  if (options_.most_drift_ppm > 0) {
    options.clock_drift_ppm = options_.most_drift_ppm * (2 * simulator_->random()->Unit() - 1);
  }
  options.scale = options_.scale;
  return options;
}

std::unique_ptr<Protocol> JobProcesses::Wrap(NodeId id, std::unique_ptr<Protocol> core) const {
  return options_.wrap_core ? options_.wrap_core(id, std::move(core)) : std::move(core);
}

std::unique_ptr<Protocol> JobProcesses::MakeScheduler(const OverlayConfig& file, StartId start,
                                                      StoredRecords records) const {
  SchedulerOptions options{std::move(records), start};
  options.precision = options_.precision;
  options.begins_another = !is_stop_ordered_;
  if (start > StartId(1) && options_.edited_binding.has_value()) {
    options.precision->binding = *options_.edited_binding;
  }
  return Wrap(kSchedulerNode, std::make_unique<SchedulerCore>(file, std::move(options)));
}

std::unique_ptr<Protocol> JobProcesses::MakeNode(NodeId id, Incarnation incarnation) const {
  const NodeConfig& config = scaled_.nodes[id.value() - 1];
  NodeOptions node;
  node.name = config.name;
  node.address = config.address;
  node.scheduler_addresses = {scaled_.scheduler.address};
  if (standby_ != nullptr) node.scheduler_addresses.push_back(kStandbyAddress);
  node.job = scaled_.job;
  node.incarnation = incarnation;
  node.compute_threads = options_.process.compute_threads;
  if (options_.recorders != nullptr) node.recorder = &(*options_.recorders)[id];
  std::unique_ptr<Protocol> core = Wrap(id, std::make_unique<NodeCore>(std::move(node)));
  if (options_.measurement_noise > 0) {
    const Random random(options_.seed * options_.overlay.nodes.size() + id.value());
    core = std::make_unique<NoisyReports>(std::move(core), options_.measurement_noise, random);
  }
  return core;
}

void JobProcesses::AddScheduler() {
  ProcessOptions process = OptionsOfProcess();
  process.scale = 1;
  SimulatedProcess* scheduler = simulator_->AddProcess(kSchedulerNode, scaled_.scheduler.address, process,
                                                       MakeScheduler(scaled_, StartId(1), {}), RandomStart());
  scheduler->set_on_stopped([this](const absl::Status& status) { OnSchedulerStopped(status); });
}

void JobProcesses::AddStandby() {
  standby_ = std::make_unique<StandbySchedulers>(
      *options_.standby, simulator_,
      [this](const StoredRecords& records) -> std::unique_ptr<Protocol> {
        return EndIfOver(records) ? nullptr : MakeScheduler(scaled_, StartId(scheduler_starts_++), records);
      },
      [this](const absl::Status& status) { OnSchedulerStopped(status); });
  const NodeId second(static_cast<uint32_t>(scaled_.nodes.size() + 2));
  simulator_->network()->AddScheduler(second);
  for (const auto& [id, address] :
       {std::pair(kSchedulerNode, scaled_.scheduler.address), std::pair(second, std::string(kStandbyAddress))}) {
    ProcessOptions process = OptionsOfProcess();
    process.scale = 1;
    standby_->Add(id, address, process, RandomStart());
  }
}

std::set<NodeId> JobProcesses::schedulers() const {
  if (standby_ == nullptr) return {kSchedulerNode};
  std::set<NodeId> ids;
  for (const SimulatedProcess* process : standby_->processes()) ids.insert(process->id());
  return ids;
}

NodeId JobProcesses::leader() const { return standby_ == nullptr ? kSchedulerNode : standby_->leader(); }

void JobProcesses::AddNode(NodeId id) {
  const NodeConfig& config = scaled_.nodes[id.value() - 1];
  std::unique_ptr<Protocol> core = MakeNode(id, Incarnation(simulator_->random()->Next()));
  const Timestamp random_start = RandomStart();
  const Timestamp start = options_.absent.contains(id) ? kNever : random_start;
  ProcessOptions options = OptionsOfProcess();
  const auto slow = options_.slow_computing.find(id);
  if (slow != options_.slow_computing.end()) options.memory_bytes_per_second /= slow->second;
  SimulatedProcess* process = simulator_->AddProcess(id, config.address, options, std::move(core), start);
  WorkerCrew& crew = crews_.try_emplace(id, id, &options_.plan, process, simulator_->agenda(), listener_).first->second;
  process->set_worker_port(&crew);
  process->set_on_stopped([this, id](const absl::Status& status) { OnNodeStopped(id, status); });
  for (uint32_t i = 0; i < static_cast<uint32_t>(config.workers); ++i) {
    crew.Add(simulator_->random()->Next());
    workers_[{id, WorkerId(i)}] = crew.current(WorkerId(i));
  }
  if (start != kNever) simulator_->agenda()->CallAt(start, [&crew] { crew.StartAll(); });
}

void JobProcesses::AddOperator() {
  const NodeId id(static_cast<uint32_t>(scaled_.nodes.size() + 1));
  SimulatedOperator::Listener* const listener = this;
  std::vector<std::string> schedulers = {scaled_.scheduler.address};
  if (standby_ != nullptr) schedulers.emplace_back(kStandbyAddress);
  auto core = std::make_unique<SimulatedOperator>(std::move(schedulers), options_.orders, listener);
  operator_ = core.get();
  simulator_->AddProcess(id, "tcp://operator:7702", OptionsOfProcess(), std::move(core), Timestamp());
}

bool JobProcesses::IsRunning(NodeId process) const { return simulator_->process(process)->running(); }

void JobProcesses::KillNode(NodeId node, bool silently) { simulator_->process(node)->Kill(silently); }

void JobProcesses::StartNode(NodeId node) {
  BANYAN_CHECK(!IsRunning(node));
  if (is_ending_ || gone_.contains(node)) return;
  asked_to_stop_.erase(node);
  simulator_->StartAgain(node, MakeNode(node, Incarnation(random_.Next())));
  WorkerCrew& crew = crews_.at(node);
  for (uint32_t i = 0; i < crew.size(); ++i) {
    if (!crew.current(WorkerId(i))->finished() && crew.current(WorkerId(i))->lost()) StartWorker({node, WorkerId(i)});
  }
  crew.StartAll();
}

void JobProcesses::Stop(NodeId process) {
  asked_to_stop_.insert(process);
  if (process == kSchedulerNode && standby_ != nullptr) return standby_->Stop();
  simulator_->process(process)->RequestStop();
}

void JobProcesses::StopForGood(NodeId node) {
  gone_.insert(node);
  Stop(node);
}

void JobProcesses::ReportEnd(const std::string& who, const absl::Status& status) {
  simulator_->violations()->Add(simulator_->now(), "the job goes on",
                                absl::StrCat(who, " has ended: ", status.ToString()));
}

void JobProcesses::OnSchedulerStopped(const absl::Status& status) {
  if (std::exchange(has_other_file_, false) && absl::IsFailedPrecondition(status)) {
    simulator_->agenda()->CallAfter(kRestartPause, [this] {
      if (!IsSchedulerRunning()) StartScheduler(/*with_records=*/true);
    });
    return;
  }
  if (options_.membership_changes && !storage_fails_ && !IsAskedToStop(kSchedulerNode)) {
    ReportEnd("the scheduler", status);
  }
}

void JobProcesses::OnNodeStopped(NodeId node, const absl::Status& status) {
  if (!options_.membership_changes || IsAskedToStop(node) || removed_.contains(node)) return;
  // The others may need one that has finished to pass their chunks on.
  if (status.ok() && crews_.at(node).IsDone()) return;
  // A job is over when its members have finished, whoever is away, or when it was stopped.
  if (status.ok() && (HasFinisher() || is_stop_ordered_)) {
    came_too_late_.insert(node);
    return;
  }
  has_lost_parameters_ = has_lost_parameters_ || IsOfLostParameters(status);
  if (IsOfLostParameters(status)) return;
  if (!absl::IsAborted(status) && !ever_removed_.contains(node))
    return ReportEnd(absl::StrCat("node ", node.value()), status);
  // Something has happened to those that lead to it.
  const bool is_cut_off = absl::StrContains(status.message(), "none of the links that lead to the other members works");
  if (options_.steady.contains(node) && !is_cut_off && !crews_.at(node).IsDone()) {
    simulator_->violations()->Add(
        simulator_->now(), "who stays is a member",
        absl::StrCat("node ", node.value(), ", to which nothing has happened, fell out: ", status.message()));
  }
  simulator_->agenda()->CallAfter(absl::IsAborted(status) ? kRestartPause : kRefusedPause, [this, node] {
    if (!IsRunning(node)) StartNode(node);
  });
}

bool JobProcesses::IsOfLostParameters(const absl::Status& status) const {
  return options_.plan.nodes_have_parameters &&
         absl::StrContains(status.message(), "all members are gone that had the parameters");
}

bool JobProcesses::IsOfStop(const absl::Status& status) const {
  return is_stop_ordered_ && (absl::IsCancelled(status) || absl::StrContains(status.message(), "nothing left to do"));
}

void JobProcesses::CheckStop() {
  if (!is_stop_accepted_) return;
  const StoredRecords stored =
      standby_ == nullptr ? simulator_->process(kSchedulerNode)->stored() : standby_->storage()->records();
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(stored, scaled_.job, NodeNames(scaled_));
  if (state.ok() && state->end.has_value()) return;
  simulator_->violations()->Add(simulator_->now(), "no order is forgotten", "a job goes on that was stopped");
}

std::optional<EndRecord> JobProcesses::EndOf(const StoredRecords& records) const {
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(records, scaled_.job, NodeNames(scaled_));
  if (!state.ok() || state->is_running() || state->spent_nodes.empty()) return std::nullopt;
  return state->end.value_or(EndRecord());
}

bool JobProcesses::HasFinisher() const {
  return std::any_of(crews_.begin(), crews_.end(), [](const auto& crew) { return crew.second.HasEnded(); });
}

void JobProcesses::KillWorker(WorkerName worker) { crews_.at(worker.node).Kill(worker.worker); }

void JobProcesses::StartWorker(WorkerName worker) {
  WorkerCrew& crew = crews_.at(worker.node);
  crew.Restart(worker.worker, random_.Next());
  workers_[worker] = crew.current(worker.worker);
}

void JobProcesses::KillScheduler(bool silently) {
  has_other_file_ = false;
  if (standby_ != nullptr) return standby_->Kill(leader(), silently);
  simulator_->process(kSchedulerNode)->Kill(silently);
}

void JobProcesses::FailStorage() {
  storage_fails_ = true;
  simulator_->process(leader())->FailStorage(absl::ResourceExhaustedError("the storage is full"));
}

void JobProcesses::MendStorage() {
  storage_fails_ = false;
  for (const NodeId scheduler : schedulers()) simulator_->process(scheduler)->MendStorage();
}

void JobProcesses::MendSlowStorage() {
  for (const NodeId id : schedulers()) simulator_->process(id)->SlowStorage(options_.process.persist_time);
}

bool JobProcesses::EndIfOver(const StoredRecords& records) {
  // A scheduler of a job that was stopped tells those of it who have not heard it.
  if (!options_.membership_changes || is_stop_ordered_) return false;
  const std::optional<EndRecord> end = EndOf(records);
  if (!end.has_value()) return false;
  is_over_ = true;
  // All that had the parameters may have left in the same moment.
  const bool may_have_none = IsOfLostParameters(absl::UnavailableError(end->reason));
  if (!HasFinisher() && !may_have_none) ReportEnd("the job", absl::InternalError("no worker has finished"));
  return true;
}

void JobProcesses::StartScheduler(bool with_records) {
  if (standby_ != nullptr) return standby_->Start();
  SimulatedProcess* scheduler = simulator_->process(kSchedulerNode);
  BANYAN_CHECK(!scheduler->running());
  asked_to_stop_.erase(kSchedulerNode);
  if (!with_records) {
    scheduler->ForgetStored();
    if (on_records_lost_) on_records_lost_();
  }
  if (EndIfOver(scheduler->stored())) return;
  simulator_->StartAgain(kSchedulerNode, MakeScheduler(scaled_, StartId(++scheduler_starts_), scheduler->stored()));
}

void JobProcesses::StartSchedulerWithOtherFile(const OverlayConfig& file) {
  SimulatedProcess* scheduler = simulator_->process(kSchedulerNode);
  if (standby_ != nullptr || scheduler->running()) return;
  const absl::StatusOr<RecoveredState> state = ReplayStateRecords(scheduler->stored(), scaled_.job, NodeNames(scaled_));
  // It would begin a job of its own.
  if (!state.ok() || !state->is_running()) return StartScheduler(/*with_records=*/true);
  has_other_file_ = true;
  simulator_->StartAgain(kSchedulerNode, MakeScheduler(file, StartId(++scheduler_starts_), scheduler->stored()));
  simulator_->agenda()->CallAfter(kRefusalTime, [this] { CheckRefusal(); });
}

void JobProcesses::CheckRefusal() {
  if (!has_other_file_) return;
  SimulatedProcess* scheduler = simulator_->process(kSchedulerNode);
  if (scheduler->paused_until() > simulator_->now()) {
    simulator_->agenda()->CallAt(scheduler->paused_until() + kRefusalTime, [this] { CheckRefusal(); });
    return;
  }
  simulator_->violations()->Add(simulator_->now(), "one job, one file",
                                "a scheduler goes on with a job whose records are of another overlay file");
}

void JobProcesses::OnOrdered(const OperatorOrder& order) {
  is_stop_ordered_ = is_stop_ordered_ || order.stops;
  for (uint32_t id = 1; id <= scaled_.nodes.size(); ++id) {
    if (scaled_.nodes[id - 1].name != order.removed) continue;
    removed_.insert(NodeId(id));
    ever_removed_.insert(NodeId(id));
  }
}

void JobProcesses::OnAnswered(const OperatorOrder& order, const OperatorReply& reply) {
  simulator_->trace()->Note(simulator_->now(), kSchedulerNode,
                            absl::StrCat("answers an order", reply.accepted ? ": " : " with a refusal: ", reply.text));
  is_stop_accepted_ = is_stop_accepted_ || (order.stops && reply.accepted);
  if (order.overlay_yaml.empty()) return;
  // They were away when the others finished.
  if (!reply.accepted && (HasFinisher() || is_stop_ordered_)) came_too_late_.merge(removed_);
  if (!reply.accepted) return;
  // Whoever has ended meanwhile is started by its supervisor.
  for (const NodeId node : std::exchange(removed_, {})) {
    simulator_->agenda()->CallAfter(kRestartPause, [this, node] {
      if (!IsRunning(node)) StartNode(node);
    });
  }
}

}  // namespace banyan
