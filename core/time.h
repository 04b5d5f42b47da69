// Points on a process's monotonic clock. Cores are handed the time and never read it; drivers fill it from the steady
// clock or from simulated time. A value; thread-compatible.
//
// Invariants:
// - Sums and differences saturate: what lies beyond the clock's range is its end, never a time on the other side.
#ifndef BANYAN_CORE_TIME_H_
#define BANYAN_CORE_TIME_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <ostream>

#include "absl/time/time.h"

namespace banyan {

// Nanoseconds since an arbitrary start that differs from process to process and never changes while one runs.
class Timestamp {
 public:
  constexpr Timestamp() = default;
  static constexpr Timestamp FromNanoseconds(int64_t nanoseconds) { return Timestamp(nanoseconds); }

  constexpr int64_t nanoseconds() const { return nanoseconds_; }

  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
  // A delay that leads beyond the clock's range gives kNever; one that leads before it, the earliest time.
  friend Timestamp operator+(Timestamp time, absl::Duration delay) {
    int64_t sum = 0;
    // The conversion saturates by itself, infinite delays included.
    if (!__builtin_add_overflow(time.nanoseconds_, absl::ToInt64Nanoseconds(delay), &sum)) return Timestamp(sum);
    return Timestamp(delay < absl::ZeroDuration() ? std::numeric_limits<int64_t>::min()
                                                  : std::numeric_limits<int64_t>::max());
  }
  friend absl::Duration operator-(Timestamp later, Timestamp earlier) {
    // In absl's wider range no difference of two times overflows.
    return absl::Nanoseconds(later.nanoseconds_) - absl::Nanoseconds(earlier.nanoseconds_);
  }
  friend std::ostream& operator<<(std::ostream& out, Timestamp time) { return out << time.nanoseconds_ << "ns"; }

 private:
  constexpr explicit Timestamp(int64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  int64_t nanoseconds_ = 0;
};

// The deadline of a protocol that waits for no time.
inline constexpr Timestamp kNever = Timestamp::FromNanoseconds(std::numeric_limits<int64_t>::max());

}  // namespace banyan

#endif  // BANYAN_CORE_TIME_H_
