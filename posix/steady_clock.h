// The one clock of the runtime: the machine's monotonic time, as cores are handed it. Thread-safe.
#ifndef BANYAN_POSIX_STEADY_CLOCK_H_
#define BANYAN_POSIX_STEADY_CLOCK_H_

#include <chrono>

#include "core/time.h"

namespace banyan {

inline Timestamp SteadyNow() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Timestamp::FromNanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace banyan

#endif  // BANYAN_POSIX_STEADY_CLOCK_H_
