#include "scheduler/epochs/epoch_reports.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

void EpochReports::Begin(Epoch epoch, std::set<NodeId> members, std::set<NodeId> survivors, size_t key_count) {
  epoch_ = epoch;
  missing_ = std::move(members);
  survivors_ = std::move(survivors);
  has_replica_ = false;
  least_next_.assign(key_count, Round(std::numeric_limits<uint64_t>::max()));
}

absl::Status EpochReports::Accept(NodeId node, const EpochReport& report) {
  if (report.epoch < epoch_) return absl::OkStatus();
  if (absl::Status status = Check(report); !status.ok()) return status;
  missing_.erase(node);
  has_replica_ = has_replica_ || !report.lacks_replica;
  if (survivors_.count(node) > 0) Lower(report);
  return absl::OkStatus();
}

std::optional<Round> EpochReports::LeastNext(KeyId key) const {
  BANYAN_CHECK(IsComplete());
  if (survivors_.empty()) return std::nullopt;
  return least_next_[key.value() - 1];
}

absl::Status EpochReports::Check(const EpochReport& report) const {
  if (report.epoch > epoch_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a report for epoch ", report.epoch.value(), " while epoch ", epoch_.value(), " begins"));
  }
  KeyId last;
  for (const EpochReport::Progress& run : report.progress) {
    const bool is_known = run.last_key >= run.first_key && run.last_key.value() <= least_next_.size();
    if (run.first_key <= last || !is_known) {
      return absl::InvalidArgumentError(absl::StrCat("a report of keys ", run.first_key.value(), " to ",
                                                     run.last_key.value(), " after key ", last.value(), " of ",
                                                     least_next_.size()));
    }
    last = run.last_key;
  }
  return absl::OkStatus();
}

void EpochReports::Lower(const EpochReport& report) {
  size_t key = 0;
  for (const EpochReport::Progress& run : report.progress) {
    // What a node leaves out it does not know, and so holds nothing of it.
    while (key + 1 < run.first_key.value()) least_next_[key++] = Round(0);
    for (; key < run.last_key.value(); ++key) least_next_[key] = std::min(least_next_[key], run.next);
  }
  while (key < least_next_.size()) least_next_[key++] = Round(0);
}

}  // namespace banyan
