// The least of the durations that came within a window of time: forgets, so that a path that becomes longer is noticed.
// Thread-compatible; owned by the estimator that asks.
#ifndef BANYAN_AWARENESS_WINDOWED_MINIMUM_H_
#define BANYAN_AWARENESS_WINDOWED_MINIMUM_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"
#include "core/time.h"

namespace banyan {

class WindowedMinimum {
 public:
  // A value counts for at least half of `window` and at most all of it, and longer when none follows.
  explicit WindowedMinimum(absl::Duration window) : half_(window / 2) {}

  // REQUIRES: `now` is not before the `now` of the call before.
  void Add(Timestamp now, absl::Duration value) {
    if (!newer_.has_value() || now - begun_ >= half_) {
      older_ = newer_;
      newer_.reset();
      begun_ = now;
    }
    newer_ = newer_.has_value() ? std::min(*newer_, value) : value;
  }

  std::optional<absl::Duration> least() const {
    return older_.has_value() && newer_.has_value() ? std::min(*older_, *newer_) : newer_;
  }

 private:
  absl::Duration half_;
  Timestamp begun_;
  std::optional<absl::Duration> older_;
  std::optional<absl::Duration> newer_;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_WINDOWED_MINIMUM_H_
