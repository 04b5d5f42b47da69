#include "sim/leadership/standby_schedulers.h"

#include <utility>

namespace banyan {
namespace {

constexpr absl::Duration kRestartPause = absl::Milliseconds(100);

}  // namespace

StandbySchedulers::StandbySchedulers(const StandbyOptions& options, Simulator* simulator, MakeCore make_core,
                                     std::function<void(const absl::Status&)> on_failed)
    : options_(options),
      simulator_(simulator),
      make_core_(std::move(make_core)),
      on_failed_(std::move(on_failed)),
      storage_(options, simulator->agenda(), simulator->violations()) {}

void StandbySchedulers::Add(NodeId id, const std::string& address, const ProcessOptions& options, Timestamp start) {
  SimulatedProcess* process = simulator_->AddProcess(id, address, options, nullptr, kNever);
  std::unique_ptr<Candidate>& candidate = candidates_[id];
  candidate = std::make_unique<Candidate>(options_, process, &storage_, simulator_->agenda(),
                                          [this](Candidate* elected) { OnElected(elected); });
  process->set_on_stopped(
      [this, stopped = candidate.get()](const absl::Status& status) { OnStopped(stopped, status); });
  candidate->StandBy(start - simulator_->now());
}

std::vector<SimulatedProcess*> StandbySchedulers::processes() const {
  std::vector<SimulatedProcess*> processes;
  for (const auto& [id, candidate] : candidates_) processes.push_back(candidate->process());
  return processes;
}

NodeId StandbySchedulers::leader() const {
  for (const auto& [id, candidate] : candidates_) {
    if (candidate->process()->running() && candidate->Leads()) return id;
  }
  return last_elected_;
}

void StandbySchedulers::Kill(NodeId scheduler, bool silently) {
  Candidate& candidate = *candidates_.at(scheduler);
  candidate.process()->Kill(silently);
  candidate.End();
}

void StandbySchedulers::Start() {
  for (const auto& [id, candidate] : candidates_) {
    if (!candidate->is_up()) candidate->StandBy(absl::ZeroDuration());
  }
}

void StandbySchedulers::Stop() {
  is_asked_to_stop_ = true;
  for (const auto& [id, candidate] : candidates_) {
    if (candidate->process()->running()) {
      candidate->process()->RequestStop();
    } else {
      candidate->End();
    }
  }
}

void StandbySchedulers::OnElected(Candidate* candidate) {
  last_elected_ = candidate->process()->id();
  std::unique_ptr<Protocol> core = make_core_(storage_.records());
  if (core != nullptr) simulator_->StartAgain(candidate->process()->id(), std::move(core));
}

void StandbySchedulers::OnStopped(Candidate* candidate, const absl::Status& status) {
  candidate->Resign();
  candidate->End();
  if (!is_asked_to_stop_) candidate->StandBy(kRestartPause);
  if (!status.ok() && !absl::IsFailedPrecondition(status)) on_failed_(status);
}

}  // namespace banyan
