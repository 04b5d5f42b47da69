// Decides which chunks also go, as copies, over a detour across a link that no tree uses, so that such links still get
// measured and one that was once found slow is not slow for ever. The chunk itself takes its own way, so nothing waits
// for a probe. What it costs are the copies' bytes on the detour's other links: kChunks chunks when the detour has
// carried nothing for kShortestInterval, one detour of a node per interval, and less often, though once in
// kLongestInterval, where that would be more than kLargestShare of what the detour can carry.
//
// Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_LINK_PROBER_H_
#define BANYAN_NODE_LINK_PROBER_H_

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
  // Whether the link from here to a neighbour is up and could send a chunk at once.
  using HasRoom = std::function<bool(NodeId neighbour)>;

  static constexpr absl::Duration kShortestInterval = absl::Seconds(10);
  // However slow a detour is: what is never measured is slow for ever.
  static constexpr absl::Duration kLongestInterval = absl::Minutes(1);
  static constexpr uint32_t kChunks = 4;
  static constexpr double kLargestShare = 0.01;

  // Learns the detours of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below.
  void RetirePolicies(PolicyVersion oldest);

  // The detour that a copy of this chunk should take; nullptr, nearly always, for none. Valid until the next
  // RetirePolicies.
  const Path* Pick(PolicyVersion policy, NodeId destination, int64_t size_bytes, const HasRoom& has_room,
                   Timestamp now);
  // A chunk or a copy is on its way along a detour.
  void OnDetour(const Path& path, Timestamp now) { last_used_[path] = now; }

 private:
  struct Detour {
    Path path;
    double rate_bps = 0;
  };
  // By destination; of policies that measure links only.
  using Detours = std::map<NodeId, std::vector<Detour>>;

  static absl::Duration Interval(const Detour& detour, int64_t size_bytes);

  std::map<PolicyVersion, Detours> policies_;
  std::map<Path, Timestamp> last_used_;
  Timestamp next_probe_;
  PolicyVersion probed_policy_;
  const Path* probed_ = nullptr;  // of that policy
  uint32_t chunks_left_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_PROBER_H_
