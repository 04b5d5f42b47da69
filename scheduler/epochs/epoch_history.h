// What changes of membership there have been since the start of the scheduler, for status. Thread-compatible; owned by
// EpochChanger.
#ifndef BANYAN_SCHEDULER_EPOCHS_EPOCH_HISTORY_H_
#define BANYAN_SCHEDULER_EPOCHS_EPOCH_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {

class EpochHistory {
 public:
  // Older changes are only counted.
  static constexpr size_t kMostKept = 16;

  struct Change {
    Epoch epoch;
    std::string reason;
    size_t members = 0;
    absl::Duration took;  // from the first cause to the plan
  };

  void Add(Change change) {
    ++count_;
    total_ += change.took;
    longest_ = std::max(longest_, change.took);
    changes_.push_back(std::move(change));
    if (changes_.size() > kMostKept) changes_.pop_front();
  }

  // Returns how many changes there were that have a plan.
  uint64_t count() const { return count_; }
  absl::Duration total() const { return total_; }
  absl::Duration longest() const { return longest_; }
  // Returns the last ones, oldest first.
  const std::deque<Change>& changes() const { return changes_; }

 private:
  uint64_t count_ = 0;
  absl::Duration total_;
  absl::Duration longest_;
  std::deque<Change> changes_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_EPOCHS_EPOCH_HISTORY_H_
