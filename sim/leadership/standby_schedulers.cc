#include "sim/leadership/standby_schedulers.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace banyan {
namespace {

constexpr absl::Duration kRestartPause = absl::Milliseconds(100);

// What real schedulers have: the wait between two tries to lead, the part of a lease that they do not trust, and how
// often they renew it.
constexpr absl::Duration kTryInterval = absl::Milliseconds(250);
constexpr double kTrusted = 0.9;
constexpr double kRenewals = 6;
constexpr absl::Duration kRetryInterval = absl::Milliseconds(50);

}  // namespace

Candidate::Candidate(const StandbyOptions& options, SimulatedProcess* process, SharedStorage* storage, Agenda* agenda,
                     std::function<void(Candidate*)> on_elected)
    : options_(options), process_(process), storage_(storage), agenda_(agenda), on_elected_(std::move(on_elected)) {
  process_->set_record_store(this);
  process_->set_may_act([this] { return Leads(); });
}

bool Candidate::Leads() const { return !options_.heeds_lease || agenda_->now() < leads_until_; }

void Candidate::StandBy(absl::Duration after) {
  is_up_ = true;
  agenda_->CallAfter(after, [this, life = ++life_] { Campaign(life); });
}

void Candidate::End() {
  is_up_ = false;
  ++life_;
}

void Candidate::Resign() {
  if (lease_ != 0 && storage_->Answers(process_->id())) storage_->GiveBack(lease_);
  lease_ = 0;
}

void Candidate::Campaign(uint32_t life) {
  if (life != life_) return;
  std::optional<SharedStorage::LeaseId> lease;
  if (storage_->Answers(process_->id())) lease = storage_->Campaign(process_->id());
  if (!lease.has_value()) {
    agenda_->CallAfter(kTryInterval, [this, life] { Campaign(life); });
    return;
  }
  lease_ = *lease;
  leads_until_ = agenda_->now() + kTrusted * options_.lease;
  agenda_->CallAfter(options_.lease / kRenewals, [this, life] { Renew(life); });
  on_elected_(this);
}

void Candidate::Renew(uint32_t life) {
  if (life != life_) return;
  // A process that stands still renews nothing, and its core looks at the clock before it goes on.
  if (const Timestamp until = process_->paused_until(); until > agenda_->now()) {
    agenda_->CallAt(until, [this, life] { Renew(life); });
    return;
  }
  if (!Leads()) return Depose();
  absl::Duration wait = kRetryInterval;
  if (storage_->Answers(process_->id())) {
    if (!storage_->Renew(lease_) && options_.heeds_lease) return Depose();
    leads_until_ = agenda_->now() + kTrusted * options_.lease;
    wait = options_.lease / kRenewals;
  }
  agenda_->CallAfter(wait, [this, life] { Renew(life); });
}

void Candidate::Depose() {
  if (process_->running()) process_->StopWith(absl::FailedPreconditionError("this process leads no more"));
}

absl::Status Candidate::CheckAnswers() const {
  if (storage_->Answers(process_->id())) return absl::OkStatus();
  return absl::UnavailableError("the storage does not answer");
}

absl::Status Candidate::Append(const std::vector<std::string>& records) {
  const absl::Status status = CheckAnswers();
  return status.ok() ? storage_->Append(lease_, records) : status;
}

absl::Status Candidate::Replace(const std::string& snapshot) {
  const absl::Status status = CheckAnswers();
  return status.ok() ? storage_->Replace(lease_, snapshot) : status;
}

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
