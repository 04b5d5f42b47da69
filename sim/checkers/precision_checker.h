// Checks how the gradients of rounds travel. Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - All chunks of a round of a key have one route, whatever epochs and schedulers come and go. What members of an older
//   epoch begin later, whom the others have left behind, may have another.
// - The scheduler never says another route of a round than that of its chunks.
// - In a low-bit round sums have votes and nothing else; in other rounds there are none.
#ifndef BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
#define BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/ids.h"
#include "proto/precision/precision_route.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class PrecisionChecker : public TrafficObserver {
 public:
  // `violations` outlives this.
  explicit PrecisionChecker(Violations* violations) : violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  // All records are lost: the next scheduler begins another job.
  void OnRecordsLost() { routes_.clear(); }

  // Rounds of keys of which chunks were sent, round 0 aside.
  int64_t rounds(PrecisionRoute route) const { return rounds_[static_cast<size_t>(route)]; }

 private:
  struct Known {
    PrecisionRoute route = PrecisionRoute::kPlain;
    Epoch epoch;  // the newest in which a chunk was sent
  };

  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckBound(const SentMessage& sent, KeyId key, Round first, Round last, PrecisionRoute route);
  void Complain(const SentMessage& sent, const std::string& what);

  Violations* const violations_;
  std::map<std::pair<KeyId, Round>, Known> routes_;  // of which a chunk was sent
  std::array<int64_t, 3> rounds_ = {};               // by route
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
