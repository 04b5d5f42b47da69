// Estimates the propagation delay between two processes whose clocks differ: half of the least way there and the least
// way back together, since what one clock is ahead adds to one and is taken from the other. That needs no offset of the
// clocks, whose error would be the delay's; and either way is free of queues more often than both are at once.
// Thread-compatible; owned by LinkMeter.
//
// Invariants:
// - Only ways within kTogether of each other are added up: clocks part by at most 200 ppm, so by 0.6 ms meanwhile.
#ifndef BANYAN_AWARENESS_PROPAGATION_DELAY_H_
#define BANYAN_AWARENESS_PROPAGATION_DELAY_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"
#include "awareness/windowed_minimum.h"
#include "core/time.h"

namespace banyan {

class PropagationDelay {
 public:
  static constexpr absl::Duration kTogether = absl::Seconds(3);

  // A delay counts for about `window`, see WindowedMinimum.
  explicit PropagationDelay(absl::Duration window) : least_(window) {}

  // A message took `way` there, or back: the receiver's clock at arrival less the sender's. REQUIRES: `now` is not
  // before the `now` of the call before.
  void AddThere(Timestamp now, absl::Duration way) { Add(now, way, there_); }
  void AddBack(Timestamp now, absl::Duration way) { Add(now, way, back_); }

  // Returns the delay of one direction; empty until messages came both ways.
  std::optional<absl::Duration> least() const { return least_.least(); }

 private:
  void Add(Timestamp now, absl::Duration way, std::optional<absl::Duration>& least_way) {
    if (now - begun_ >= kTogether) {
      there_.reset();
      back_.reset();
      begun_ = now;
    }
    least_way = std::min(least_way.value_or(way), way);
    if (!there_.has_value() || !back_.has_value()) return;
    const absl::Duration both = *there_ + *back_;
    // It cannot be less than nothing, unless one of the clocks was set meanwhile.
    if (both >= absl::ZeroDuration()) least_.Add(now, both / 2);
  }

  Timestamp begun_;
  std::optional<absl::Duration> there_;
  std::optional<absl::Duration> back_;
  WindowedMinimum least_;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_PROPAGATION_DELAY_H_
