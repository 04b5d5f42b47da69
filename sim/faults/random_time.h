// Times that are drawn.
#ifndef BANYAN_SIM_FAULTS_RANDOM_TIME_H_
#define BANYAN_SIM_FAULTS_RANDOM_TIME_H_

#include "absl/time/time.h"
#include "core/random.h"

namespace banyan {

// Draws a duration from `least` to `most`.
inline absl::Duration Between(absl::Duration least, absl::Duration most, Random* random) {
  return absl::Nanoseconds(random->Between(absl::ToInt64Nanoseconds(least), absl::ToInt64Nanoseconds(most)));
}

}  // namespace banyan

#endif  // BANYAN_SIM_FAULTS_RANDOM_TIME_H_
