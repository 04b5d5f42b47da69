// How many bytes may be on their way to each neighbour without a link ack. A window holds twice the bandwidth-delay
// product of its link, so that pauses of either end do not empty it, and less where what it does not hold could take a
// detour.
//
// Where a host's cap is shared by its links, a window rests on the part of the cap that the plan gives the link: what
// the cap does not let through would only wait there, before chunks that are more urgent. Windows of links with a short
// round trip then hold their part for the mean round trip of the links that share the cap, since what waits at the cap
// delays all of them alike, and a window that is as short as its link would leave it behind the others.
//
// Rounds of several policies share a link: its window is the largest that a live one needs.
// Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_LINK_WINDOWS_H_
#define BANYAN_NODE_LINK_WINDOWS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "core/ids.h"
#include "node/detour_selector.h"
#include "proto/policy_slice.h"

namespace banyan {

class LinkWindows {
 public:
  // Fewer would leave a link idle while the next chunk is being summed.
  static constexpr int64_t kLeastChunks = 8;
  static constexpr int64_t kBandwidthDelayProducts = 2;

  // `fixed_bytes`, of the job's configuration: the size of every window; 0 for windows that suit their links.
  explicit LinkWindows(int64_t fixed_bytes) : fixed_bytes_(fixed_bytes) {}

  // REQUIRES: `detours` knows the policy.
  void AddPolicy(const PolicySlice& slice, const DetourSelector& detours);
  // Forgets all versions below.
  void RetirePolicies(PolicyVersion oldest);

  // Empty when no live policy names the neighbour.
  std::optional<int64_t> BytesFor(NodeId neighbour) const;

 private:
  struct Policy {
    int64_t chunk_bytes = 0;
    std::map<NodeId, int64_t> windows;
    std::map<NodeId, int64_t> limits;  // above which chunks would better take a detour
  };

  const int64_t fixed_bytes_;
  std::map<PolicyVersion, Policy> policies_;  // that live
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_WINDOWS_H_
