// Checks how chunks travel. Thread-compatible; registered with the network, owned by the cluster.
//
// Invariants that it checks:
// - No path visits a node twice.
// - A source only takes paths that its policy gave it.
// - A relay only forwards what came to it on the very same path.
// - A published policy does not change.
// - Nobody starts a chunk under a policy that it knows to be retired.
#ifndef BANYAN_SIM_CHECKERS_ROUTE_CHECKER_H_
#define BANYAN_SIM_CHECKERS_ROUTE_CHECKER_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "sim/traffic_observer.h"
#include "sim/violations.h"

namespace banyan {

class RouteChecker : public TrafficObserver {
 public:
  using NodePair = std::pair<NodeId, NodeId>;

  // `links` are the directed links of the overlay. A process may stand still for up to `longest_pause`. `violations`
  // outlives this.
  RouteChecker(std::set<NodePair> links, absl::Duration longest_pause, Violations* violations)
      : links_(std::move(links)), longest_pause_(longest_pause), violations_(violations) {}

  void OnSent(const SentMessage& sent) override;
  void OnDelivered(const SentMessage& sent) override;
  void OnProcessStarted(Timestamp now, NodeId process) override;

  // Chunks that sources have sent on auxiliary paths.
  int64_t auxiliary_chunks() const { return auxiliary_chunks_; }

 private:
  using Path = std::vector<NodeId>;
  struct Retired {
    PolicyVersion oldest;  // that may still govern rounds
    Timestamp told_at;
  };

  void CheckSlice(const SentMessage& sent, const PolicySlice& slice);
  void CheckWays(const SentMessage& sent, const std::vector<RouteSlice>& ways);
  void CheckChunk(const SentMessage& sent, const ChunkMessage& chunk);
  void CheckSource(const SentMessage& sent, const ChunkMessage& chunk);
  void Complain(const SentMessage& sent, const std::string& rule, const std::string& what);

  const std::set<NodePair> links_;
  const absl::Duration longest_pause_;
  Violations* const violations_;
  std::map<std::pair<NodeId, PolicyVersion>, PolicySlice> slices_;
  std::set<std::pair<ChunkId, NodePair>> started_;               // by source and destination
  std::map<NodeId, Retired> retired_;                            // what each node has been told
  std::map<NodeId, std::set<std::pair<ChunkId, Path>>> passed_;  // to a relay, to be forwarded
  int64_t auxiliary_chunks_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_CHECKERS_ROUTE_CHECKER_H_
