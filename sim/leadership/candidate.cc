#include "sim/leadership/candidate.h"

#include <algorithm>
#include <optional>

namespace banyan {
namespace {

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

}  // namespace banyan
