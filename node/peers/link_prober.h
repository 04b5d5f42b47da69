// Chooses chunks of which a copy also goes over an auxiliary path that crosses a link no tree uses. So such links still
// get measured, and one that was once found slow is not slow for ever. What it costs are the copies' bytes on the other
// links of the path. Thread-compatible; owned by ChunkSender.
//
// Invariants:
//   1. Nothing waits for a copy: the chunk itself takes its own path.
//   2. A probe is kChunks chunks in a row. A node begins at most one in kShortestInterval.
//   3. A path is probed when it has carried nothing for its interval, kShortestInterval at least.
//   4. The interval is longer where probes would take more than kLargestShare of what the path can carry, but never
//      longer than kLongestInterval.
#ifndef BANYAN_NODE_PEERS_LINK_PROBER_H_
#define BANYAN_NODE_PEERS_LINK_PROBER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/policy_slice.h"

namespace banyan {

class LinkProber {
 public:
  using Path = std::vector<NodeId>;
  // Returns whether the link from here to `neighbour` is up and could send a chunk at once.
  using HasRoom = std::function<bool(NodeId neighbour)>;

  static constexpr absl::Duration kShortestInterval = absl::Seconds(10);
  // However slow a path is: what is never measured is slow for ever.
  static constexpr absl::Duration kLongestInterval = absl::Minutes(1);
  static constexpr uint32_t kChunks = 4;
  static constexpr double kLargestShare = 0.01;

  // Learns the auxiliary paths of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below `oldest`.
  void RetirePolicies(PolicyVersion oldest);

  // Returns the path that a copy of a chunk of `size_bytes` should take; null, nearly always, for none. Valid until the
  // next RetirePolicies.
  const Path* Pick(PolicyVersion policy, NodeId destination, int64_t size_bytes, const HasRoom& has_room,
                   Timestamp now);
  // Notes that a chunk or a copy is on its way along an auxiliary path.
  void OnAuxiliaryPath(const Path& path, Timestamp now) { last_used_[path] = now; }

 private:
  struct AuxiliaryPath {
    Path path;
    double rate_bps = 0;
  };
  // By destination; of policies that measure links only.
  using AuxiliaryPaths = std::map<NodeId, std::vector<AuxiliaryPath>>;

  // Returns how long `auxiliary path` carries nothing before it is probed with chunks of `size_bytes`.
  static absl::Duration Interval(const AuxiliaryPath& auxiliary_path, int64_t size_bytes);

  std::map<PolicyVersion, AuxiliaryPaths> policies_;
  std::map<Path, Timestamp> last_used_;
  Timestamp next_probe_;
  PolicyVersion probed_policy_;
  const Path* probed_ = nullptr;  // of that policy
  uint32_t chunks_left_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_LINK_PROBER_H_
