// Checks how the gradients of rounds travel. Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - A chunk of a round has one route, whatever epochs and schedulers come and go. What members of an older epoch begin
//   later, whom the others have left behind, may have another.
// - The scheduler never says other routes of a round than those of its chunks; a key that is one slice has one.
// - In a low-bit chunk of a sum there are votes and nothing else; in others there are none.
#ifndef BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
#define BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/ids.h"
#include "proto/precision/key_routes.h"
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

  // Rounds of keys of which chunks on this route were sent, round 0 aside.
  int64_t rounds(PrecisionRoute route) const { return rounds_[static_cast<size_t>(route)]; }
  // Rounds of keys of which chunks were low-bit and others were not.
  int64_t mixed_rounds() const;

 private:
  struct Known {
    PrecisionRoute route = PrecisionRoute::kPlain;
    Epoch epoch;  // the newest in which a chunk was sent
  };

  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckBound(const SentMessage& sent, KeyId key, Round first, Round last, const KeyRoutes& routes);
  void Complain(const SentMessage& sent, const std::string& what);

  Violations* const violations_;
  std::map<KeyId, size_t> slices_;                                // of keys that have several
  std::map<std::tuple<KeyId, Round, ChunkIndex>, Known> routes_;  // of chunks that were sent
  std::map<std::pair<KeyId, Round>, std::set<PrecisionRoute>> taken_;
  std::array<int64_t, 3> rounds_ = {};  // by route
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
