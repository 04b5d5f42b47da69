// Checks what nodes report of their memory against the limits that they promise: contributions, sums and results within
// three times the model, early and relayed data within their room. Thread-compatible; registered with
// the network, owned by the cluster.
#ifndef BANYAN_SIM_TESTING_MEMORY_CHECKER_H_
#define BANYAN_SIM_TESTING_MEMORY_CHECKER_H_

#include <cstdint>

#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class MemoryChecker : public TrafficObserver {
 public:
  struct Limits {
    int64_t model_bytes = 0;
    // Not the node's own: a lone worker's gradient is the contribution, and counted as one.
    int64_t worker_segment_bytes = 0;
    int64_t early_bytes = 0;
    int64_t relay_bytes = 0;
    // Each of the rooms may be over by a chunk of each node, so that something always moves.
    int64_t slack_bytes = 0;
  };

  // `violations` outlives this.
  MemoryChecker(const Limits& limits, Violations* violations) : limits_(limits), violations_(violations) {}

  void OnDelivered(const SentMessage& sent) override;

  int64_t reports() const { return reports_; }
  // The most that contributions, sums and results of one node have been at once.
  int64_t most_round_bytes() const { return most_round_bytes_; }

 private:
  void Check(const SentMessage& sent, const char* what, int64_t bytes, int64_t limit_bytes);

  const Limits limits_;
  Violations* const violations_;
  int64_t reports_ = 0;
  int64_t most_round_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_MEMORY_CHECKER_H_
