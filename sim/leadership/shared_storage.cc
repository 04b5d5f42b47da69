#include "sim/leadership/shared_storage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/processes/simulated_process.h"

namespace banyan {

void SharedStorage::SetAway(bool is_away) {
  const bool was_held = IsHeld();
  away_ += is_away ? 1 : -1;
  if (away_ > 0) return;
  if (was_held) {
    ends_at_ = agenda_->now() + options_.lease;
  } else {
    holder_.reset();
  }
}

void SharedStorage::SetCutOff(NodeId process, bool is_cut_off) { cut_off_[process] += is_cut_off ? 1 : -1; }

bool SharedStorage::Answers(NodeId process) const {
  const auto found = cut_off_.find(process);
  return away_ == 0 && (found == cut_off_.end() || found->second == 0);
}

std::optional<SharedStorage::LeaseId> SharedStorage::Campaign(NodeId /*process*/) {
  if (IsHeld()) return std::nullopt;
  holder_ = ++last_lease_;
  ends_at_ = agenda_->now() + options_.lease;
  return holder_;
}

bool SharedStorage::Renew(LeaseId lease) {
  if (holder_ != lease || !IsHeld()) return false;
  ends_at_ = agenda_->now() + options_.lease;
  return true;
}

void SharedStorage::GiveBack(LeaseId lease) {
  if (holder_ == lease) holder_.reset();
}

absl::Status SharedStorage::CheckWrite(LeaseId lease) {
  if (options_.is_fenced && (holder_ != lease || !IsHeld())) {
    return absl::FailedPreconditionError("expected to lead by this lease: this process leads no more");
  }
  if (lease < last_writer_) {
    violations_->Add(agenda_->now(), "one writer per term",
                     absl::StrCat("lease ", lease, " writes after lease ", last_writer_));
  }
  last_writer_ = std::max(last_writer_, lease);
  return absl::OkStatus();
}

absl::Status SharedStorage::Append(LeaseId lease, const std::vector<std::string>& records) {
  const absl::Status status = CheckWrite(lease);
  return status.ok() ? MemoryRecordStore(&records_).Append(records) : status;
}

absl::Status SharedStorage::Replace(LeaseId lease, const std::string& snapshot) {
  const absl::Status status = CheckWrite(lease);
  return status.ok() ? MemoryRecordStore(&records_).Replace(snapshot) : status;
}

}  // namespace banyan
