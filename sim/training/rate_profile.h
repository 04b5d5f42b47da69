// The changes of a simulated job's links while it trains: step by step, by simulated time or by the job's own rounds.
// Value.
#ifndef BANYAN_SIM_TRAINING_RATE_PROFILE_H_
#define BANYAN_SIM_TRAINING_RATE_PROFILE_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "core/ids.h"

namespace banyan {

struct RateProfile {
  // Returns what the links that leave `from` have in `step`, as a part of their rates in the overlay; above 0. Steps
  // count from 0. Empty: links stay as they are.
  std::function<double(uint64_t step, NodeId from)> part;
  // The length of a step in rounds; 0: steps go by time.
  uint64_t rounds = 0;
  absl::Duration period = absl::Seconds(1);
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRAINING_RATE_PROFILE_H_
