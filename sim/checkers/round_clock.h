// Takes the synchronisation time of each round: from the last member's push to the last member's completed pull.
// Thread-compatible; owned by the cluster.
#ifndef BANYAN_SIM_CHECKERS_ROUND_CLOCK_H_
#define BANYAN_SIM_CHECKERS_ROUND_CLOCK_H_

#include <map>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "sim/processes/worker_listener.h"

namespace banyan {

class RoundClock : public WorkerListener {
 public:
  struct Times {
    Timestamp last_push;
    Timestamp last_pull;

    absl::Duration Synchronisation() const { return last_pull - last_push; }
  };

  void OnPushed(Timestamp now, WorkerName /*worker*/, size_t /*tensor*/, Round round) override {
    rounds_[round].last_push = now;
  }
  void OnResult(Timestamp now, WorkerName /*worker*/, size_t /*tensor*/, Round round,
                absl::Span<const float> /*values*/) override {
    if (round > Round(0)) rounds_[round].last_pull = now;
  }

  // All tensors together. Rounds from 1.
  const std::map<Round, Times>& rounds() const { return rounds_; }

 private:
  std::map<Round, Times> rounds_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_ROUND_CLOCK_H_
