// How many bytes may be on their way to each neighbour without a link ack. A window holds twice the bandwidth-delay
// product of its link, so that late acks do not let it run dry, and less where what it does not hold could take a
// detour. Where that product is small a window holds what the link carries while an ack is late by kAckLateness, in
// whole chunks, and one more for each connection. Larger ones help nothing: what is in a window cannot be overtaken by
// what is more urgent, and on a slow link a few chunks are a good part of a round.
//
// Connections share their link: each chunk takes the longer to arrive, and each looks for more than its part of the
// rate, so that together they fill the queue. So a link uses no more connections than have `bytes_per_connection` each
// of its bandwidth-delay product, as a congestion control that takes each loss for a full queue keeps no more on its
// way; of one that does not, such as BBR, kSteadyFactor times as much, which a kernel's buffers for a connection still
// hold. A smaller product has one connection, and others when that is lost.
//
// Connections are paced, all of a link together, at its rate. A congestion control that looks for the rate fills the
// link's queue: each hop of a chunk takes twice as long, and what overflows costs recoveries, for which a round waits.
// A pace at the rate leaves the queue empty (docs/performance.md). What headers take of the rate, and PaceAfter, let it
// be seen that a link has become faster. A link that a cap keeps below its rate has no pace: its own queue does not
// fill, and of the cap links without a pace would get more.
//
// Where a host's cap is shared by its links, a window rests on the part of the cap that the plan gives the link: what
// the cap does not let through would only wait there, before chunks that are more urgent. Windows of links with a short
// round trip then hold their part for the mean round trip of the links that share the cap, since what waits at the cap
// delays all of them alike, and a window that is as short as its link would leave it behind the others.
//
// Rounds of several policies share a link: its window is the largest, with the most connections and the highest pace,
// that a live one needs. Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_LINK_WINDOWS_H_
#define BANYAN_NODE_LINK_WINDOWS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "core/ids.h"
#include "node/detour_selector.h"
#include "node/link_window.h"
#include "proto/policy_slice.h"

namespace banyan {

class LinkWindows {
 public:
  static constexpr int64_t kBandwidthDelayProducts = 2;
  // An ack may be late by this: chunks wait for a processor, to be summed, for those before them to be read, and the
  // ack waits behind chunks of the way back, 20 to 30 ms where both directions are full (docs/performance.md).
  static constexpr absl::Duration kAckLateness = absl::Milliseconds(40);
  static constexpr int64_t kSteadyFactor = 16;
  // No link needs more, however fast; a window of a link of unknown rate holds so many.
  static constexpr int64_t kEnoughChunks = 16;

  struct Options {
    int64_t fixed_bytes = 0;           // the size of every window; 0 for windows that suit their links
    int64_t connections = 1;           // that a link has
    int64_t bytes_per_connection = 0;  // of a bandwidth-delay product; 0: all connections are used
    bool loss_limited = false;         // each loss makes a connection slower
  };

  explicit LinkWindows(Options options) : options_(options) {}

  // REQUIRES: `detours` knows the policy.
  void AddPolicy(const PolicySlice& slice, const DetourSelector& detours);
  // Forgets all versions below.
  void RetirePolicies(PolicyVersion oldest);

  // Empty when no live policy names the neighbour.
  std::optional<LinkWindow> For(NodeId neighbour) const;

 private:
  // A host's cap is not in the way of its link's own queue.
  int64_t Connections(const NeighbourSlice& neighbour) const;

  const Options options_;
  std::map<PolicyVersion, std::map<NodeId, LinkWindow>> windows_;  // of policies that live
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_WINDOWS_H_
