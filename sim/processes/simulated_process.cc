#include "sim/processes/simulated_process.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "sim/message_facts.h"

namespace banyan {
namespace {

// A core that asks for its deadline this often without time passing would spin for ever.
constexpr int64_t kMostIdleDeadlines = 1000;
constexpr double kMillion = 1e6;
// Until a storage that does not answer is asked again.
constexpr absl::Duration kStoreAgain = absl::Milliseconds(50);

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

SimulatedProcess::SimulatedProcess(NodeId id, const ProcessOptions& options, uint64_t seed,
                                   std::unique_ptr<Protocol> core, const ProcessContext& context)
    : id_(id),
      options_(options),
      random_(seed),
      core_(std::move(core)),
      context_(context),
      thread_free_ns_(options.compute_threads, 0),
      persist_time_(options.persist_time) {
  BANYAN_CHECK(options.compute_threads > 0);
}

Timestamp SimulatedProcess::LocalTime(int64_t global_ns) const {
  const double gained_ns = std::floor(static_cast<double>(global_ns) * options_.clock_drift_ppm / kMillion);
  return Timestamp::FromNanoseconds(options_.clock_start.nanoseconds() + global_ns + static_cast<int64_t>(gained_ns));
}

Timestamp SimulatedProcess::LocalNow() const { return LocalTime(context_.agenda->now().nanoseconds()); }

Timestamp SimulatedProcess::GlobalTime(Timestamp local) const {
  if (local == kNever) return kNever;
  const int64_t shown_ns = local.nanoseconds() - options_.clock_start.nanoseconds();
  const double gained_ns =
      static_cast<double>(shown_ns) * options_.clock_drift_ppm / (kMillion + options_.clock_drift_ppm);
  int64_t global_ns = shown_ns - static_cast<int64_t>(gained_ns);
  while (LocalTime(global_ns) < local) ++global_ns;
  return Timestamp::FromNanoseconds(global_ns);
}

void SimulatedProcess::Start() {
  running_ = true;
  Step(Started{});
}

void SimulatedProcess::Restart(std::unique_ptr<Protocol> core) {
  BANYAN_CHECK(!running_);
  core_ = std::move(core);
  stopped_.reset();
  std::fill(thread_free_ns_.begin(), thread_free_ns_.end(), 0);
  Start();
}

void SimulatedProcess::Deliver(Event event) {
  if (!running_) return RefuseCall(event);
  if (!options_.step_costs.has_value() && context_.agenda->now() >= paused_until_ && held_.empty()) {
    return Step(std::move(event));
  }
  deadline_is_held_ = deadline_is_held_ || std::holds_alternative<DeadlineReached>(event);
  held_.push_back(std::move(event));
  if (options_.step_costs.has_value() && held_.size() == 1) BeginStep();
}

void SimulatedProcess::BeginStep() {
  busy_until_ = std::max(context_.agenda->now(), paused_until_) + options_.step_costs->Of(held_.front());
  context_.agenda->At(busy_until_, PauseEnded{id_, life_});
}

void SimulatedProcess::StepHeld() {
  const uint32_t life = life_;
  Event event = std::move(held_.front());
  held_.pop_front();
  if (std::holds_alternative<DeadlineReached>(event)) deadline_is_held_ = false;
  Step(std::move(event));
  if (life_ == life && options_.step_costs.has_value() && !held_.empty()) BeginStep();
}

void SimulatedProcess::CallLater(absl::Duration delay, WorkerCall call) {
  context_.agenda->At(context_.agenda->now() + delay, CoreEvent{id_, life_, WorkerCalled{std::move(call)}});
}

void SimulatedProcess::CallLater(absl::Duration delay, StateCall call) {
  context_.agenda->At(context_.agenda->now() + delay, CoreEvent{id_, life_, StateCalled{std::move(call)}});
}

void SimulatedProcess::RequestStop() { Deliver(StopRequested{}); }

void SimulatedProcess::PauseUntil(Timestamp until) {
  if (!running_ || until <= paused_until_) return;
  paused_until_ = until;
  context_.network->StandStill(id_, until);
  context_.agenda->At(until, PauseEnded{id_, life_});
}

void SimulatedProcess::Kill(bool silently) {
  if (!running_) return;
  context_.network->EndProcess(id_, silently);
  for (uint64_t come = random_.Below(pending_records_.size() + 1); come > 0; --come) {
    if (!StoreRecord().ok()) break;
  }
  End();
}

void SimulatedProcess::ForgetStored() {
  BANYAN_CHECK(!running_);
  storage_ = StoredRecords();
}

void SimulatedProcess::End() {
  running_ = false;
  ++life_;
  timer_at_ = kNever;
  paused_until_ = Timestamp();
  held_.clear();
  busy_until_ = Timestamp();
  deadline_is_held_ = false;
  pending_records_.clear();
  last_stored_ = Timestamp();
  if (worker_port_ != nullptr) worker_port_->OnEnded();
}

void SimulatedProcess::RefuseCall(const Event& event) {
  const bool is_call = std::holds_alternative<WorkerCalled>(event) || std::holds_alternative<StateCalled>(event);
  if (worker_port_ != nullptr && is_call) worker_port_->OnEnded();
}

void SimulatedProcess::Handle(CoreEvent event) {
  if (event.life != life_) return RefuseCall(event.event);
  if (const auto* record = std::get_if<RecordPersisted>(&event.event); record != nullptr && !Store(*record)) return;
  Deliver(std::move(event.event));
}

void SimulatedProcess::Handle(ComputationDue due) {
  if (due.life != life_) return;
  if (!due.has_run) due.computation->Run();
  Deliver(ComputationFinished{due.id, std::move(due.computation), due.time});
}

void SimulatedProcess::Handle(const TimerDue& due) {
  if (due.life != life_ || context_.agenda->now() != timer_at_) return;
  timer_at_ = kNever;
  if (!running_ || context_.agenda->now() < paused_until_) return;  // the end of the pause looks at the clock again
  if (core_->NextDeadline() <= LocalNow()) {
    Deliver(DeadlineReached{});
  } else {
    SetTimer();
  }
}

void SimulatedProcess::Handle(const PauseEnded& ended) {
  if (ended.life != life_ || context_.agenda->now() < paused_until_) return;
  if (options_.step_costs.has_value()) {
    if (!held_.empty() && context_.agenda->now() >= busy_until_) StepHeld();
  } else {
    while (!held_.empty() && running_ && context_.agenda->now() >= paused_until_) StepHeld();
  }
  if (running_) SetTimer();
}

void SimulatedProcess::Step(Event event) {
  if (may_act_ && !may_act_()) return StopWith(absl::FailedPreconditionError("this process may act no more"));
  context_.trace->Record(context_.agenda->now(), id_, event);
  CheckProgress(event);
  if (const auto* up = std::get_if<ConnectionUp>(&event)) context_.network->OnUpHandled(id_, up->connection);
  const uint32_t life = life_;
  Actions actions = core_->Step(LocalNow(), std::move(event));
  for (Action& action : actions) {
    if (life_ != life) return;
    CarryOut(std::move(action));
  }
  if (life_ == life) SetTimer();
}

void SimulatedProcess::CheckProgress(const Event& event) {
  if (!std::holds_alternative<DeadlineReached>(event) || last_deadline_ != context_.agenda->now()) {
    idle_deadlines_ = 0;
  } else if (++idle_deadlines_ == kMostIdleDeadlines) {
    context_.violations->Add(context_.agenda->now(), "nothing hangs",
                             absl::StrCat("process ", id_.value(), " asks for its deadline again and again"));
  }
  if (std::holds_alternative<DeadlineReached>(event)) last_deadline_ = context_.agenda->now();
}

void SimulatedProcess::SetTimer() {
  if (deadline_is_held_) return;
  Timestamp deadline = std::max(GlobalTime(core_->NextDeadline()), context_.agenda->now());
  if (idle_deadlines_ >= kMostIdleDeadlines) deadline = deadline + absl::Seconds(1);  // the simulation goes on
  if (deadline >= timer_at_) return;
  timer_at_ = deadline;
  context_.agenda->At(deadline, TimerDue{id_, life_});
}

void SimulatedProcess::CarryOut(Action action) {
  std::visit(Overloaded{
                 [this](Connect& connect) { context_.network->OpenConnection(id_, connect); },
                 [this](Disconnect& disconnect) { context_.network->CloseConnection(id_, disconnect.connection); },
                 [this](Renew& renew) { context_.network->RenewConnection(id_, renew); },
                 [this](Pace& pace) { context_.network->SetPace(id_, pace); },
                 [this](Send& send) { context_.network->SendMessage(id_, std::move(send)); },
                 [this](StartComputation& start) { Compute(std::move(start)); },
                 [this](WriteResult& write) {
                   if (worker_port_ != nullptr) worker_port_->OnWriteResult(write);
                 },
                 [this](CompleteRequest& completion) {
                   if (worker_port_ != nullptr) worker_port_->OnComplete(completion);
                 },
                 [this](NotifyRoundComplete& told) {
                   if (worker_port_ != nullptr) worker_port_->OnRoundComplete(told);
                 },
                 // A simulated worker always waits for a call, which the core ends as well.
                 [](NotifyJobEnded&) {},
                 [](Admit&) {},
                 [](NotifyMembers&) {},
                 [this](AskWorker& ask) {
                   if (worker_port_ != nullptr) worker_port_->OnAsked(ask.task);
                 },
                 [this](PersistRecord& record) { Persist(std::move(record)); },
                 [this](LogLine& line) { context_.trace->Note(context_.agenda->now(), id_, "log: " + line.text); },
                 [this](Stop& stop) { StopWith(std::move(stop.status)); },
             },
             action);
}

void SimulatedProcess::StopWith(absl::Status status) {
  context_.network->EndProcess(id_, false);
  stopped_ = std::move(status);
  End();
  if (on_stopped_) on_stopped_(*stopped_);
}

void SimulatedProcess::Compute(StartComputation start) {
  auto thread = std::min_element(thread_free_ns_.begin(), thread_free_ns_.end());
  const double bytes = static_cast<double>(start.computation->size_bytes()) * static_cast<double>(options_.scale);
  const bool is_of_votes = start.computation->service().value_or(ServiceKind::kSum) != ServiceKind::kSum;
  const auto duration_ns = static_cast<int64_t>(bytes * 1e9 / options_.memory_bytes_per_second *
                                                (is_of_votes ? options_.vote_slowness : 1)) +
                           absl::ToInt64Nanoseconds(options_.computation_overhead);
  *thread = std::max(*thread, context_.agenda->now().nanoseconds()) + duration_ns;
  // It may run at any time in between; which, must make no difference.
  const bool run_now = random_.Chance(0.5);
  if (run_now) start.computation->Run();
  context_.agenda->At(
      Timestamp::FromNanoseconds(*thread),
      ComputationDue{id_, life_, start.id, std::move(start.computation), run_now, absl::Nanoseconds(duration_ns)});
}

void SimulatedProcess::Persist(PersistRecord record) {
  if (storage_error_.has_value()) return StopWith(*storage_error_);
  const Timestamp now = context_.agenda->now();
  last_stored_ = std::max({last_stored_, now + persist_time_, storage_stalled_until_ + persist_time_});
  context_.agenda->At(last_stored_, CoreEvent{id_, life_, RecordPersisted{record.record}});
  pending_records_.push_back(std::move(record));
}

absl::Status SimulatedProcess::StoreRecord() {
  const PersistRecord& record = pending_records_.front();
  absl::Status status =
      record.is_snapshot ? record_store_->Replace(record.bytes) : record_store_->Append({record.bytes});
  if (status.ok()) pending_records_.pop_front();
  return status;
}

bool SimulatedProcess::Store(const RecordPersisted& record) {
  const bool is_its_turn = pending_records_.front().record == record.record;
  const absl::Status status = is_its_turn ? StoreRecord() : absl::UnavailableError("others come first");
  if (status.ok()) return true;
  if (absl::IsUnavailable(status)) {
    context_.agenda->At(context_.agenda->now() + kStoreAgain, CoreEvent{id_, life_, record});
  } else {
    StopWith(status);
  }
  return false;
}

}  // namespace banyan
