#include "sim/processes/worker_crew.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace banyan {

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

}  // namespace banyan
