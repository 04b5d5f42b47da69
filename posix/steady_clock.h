// The one clock of the runtime, as cores are handed it: the time since the machine's start, which no step of the wall
// clock changes, and which goes on while the machine is suspended. A lease ends meanwhile, and so must whoever holds it
// think. Thread-safe.
#ifndef BANYAN_POSIX_STEADY_CLOCK_H_
#define BANYAN_POSIX_STEADY_CLOCK_H_

#include <time.h>

#include <cstdint>

#include "core/time.h"

namespace banyan {

inline Timestamp SteadyNow() {
  timespec since = {};
  clock_gettime(CLOCK_BOOTTIME, &since);
  return Timestamp::FromNanoseconds(int64_t{since.tv_sec} * 1'000'000'000 + since.tv_nsec);
}

}  // namespace banyan

#endif  // BANYAN_POSIX_STEADY_CLOCK_H_
