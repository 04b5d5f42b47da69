// Checks how the gradients of rounds travel. Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - A chunk lies where the borders of its key put it, and has the route that its slice has in the answer that binds its
//   round: at its source, on every hop, and as a result.
// - A slice has one route in a round, whatever epochs and schedulers come and go. What those begin alone who fall out
// of
//   the job, before or after they do, may have another: nobody counts it.
// - The scheduler never says other routes of a round than those that its slices have taken.
// - In a low-bit chunk of a sum there are votes and nothing else; in others there are none.
#ifndef BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
#define BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/ids.h"
#include "proto/precision/key_routes.h"
#include "sim/checkers/membership_watch.h"
#include "sim/checkers/slice_routes.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class PrecisionChecker : public TrafficObserver {
 public:
  using Rounds = std::array<int64_t, 3>;  // by route

  // All outlive this; `slices` and `membership` hear of each message first.
  PrecisionChecker(SliceRoutes* slices, const MembershipWatch* membership, Violations* violations)
      : slices_(slices), membership_(membership), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  // All records are lost: the next scheduler begins another job.
  void OnRecordsLost() { routes_.clear(); }

  // Rounds of keys of which chunks on this route were sent, round 0 aside.
  int64_t rounds(PrecisionRoute route) const { return rounds_[static_cast<size_t>(route)]; }
  // Rounds of keys of which chunks were low-bit and others were not.
  int64_t mixed_rounds() const;
  // Rounds of each slice of which chunks were sent, by the route of the first; round 0 aside. Slices of a key that ends
  // all its rounds have as many each.
  const std::map<std::pair<KeyId, size_t>, Rounds>& slice_rounds() const { return slice_rounds_; }

 private:
  struct Known {
    PrecisionRoute route = PrecisionRoute::kPlain;
    Epoch epoch;                       // the newest in which a chunk was sent
    std::map<NodeId, Epoch> begun_by;  // whose chunks, or sums, and when lastly
  };

  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  // Checks the chunk's route against the answer, and against what the slice has taken so far.
  void CheckRoute(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckFrames(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckBound(const SentMessage& sent, KeyId key, Round first, Round last, const KeyRoutes& routes);
  // Whether the node has fallen out of the job since this epoch, although it may be back.
  bool HasFallenOutSince(NodeId node, Epoch epoch) const;
  // Whether all who have begun the round have fallen out since.
  bool IsLeftBehind(const Known& known) const;
  void Complain(const SentMessage& sent, const std::string& what);

  SliceRoutes* const slices_;
  const MembershipWatch* const membership_;
  Violations* const violations_;
  std::map<std::tuple<KeyId, Round, size_t>, Known> routes_;  // of slices of which chunks were sent
  std::map<std::pair<KeyId, Round>, std::set<PrecisionRoute>> taken_;
  std::map<std::pair<KeyId, size_t>, Rounds> slice_rounds_;
  Rounds rounds_ = {};
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_PRECISION_CHECKER_H_
