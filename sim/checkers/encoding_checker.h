// Checks that every message of a job means the same after it has been turned into bytes and back. Thread-compatible;
// registered with the network, owned by the cluster.
#ifndef BANYAN_SIM_CHECKERS_ENCODING_CHECKER_H_
#define BANYAN_SIM_CHECKERS_ENCODING_CHECKER_H_

#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class EncodingChecker : public TrafficObserver {
 public:
  // `violations` outlives this.
  explicit EncodingChecker(Violations* violations) : violations_(violations) {}

  void OnSent(const SentMessage& sent) override;

 private:
  Violations* const violations_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_ENCODING_CHECKER_H_
