// Chooses for each neighbour how many bytes may be on their way without a link ack, over how many connections, and at
// which pace. Thread-compatible; owned by PeerNetwork.
//
// Rules, in which a link's product is its bandwidth-delay product:
//   1. Size. A window holds kBandwidthDelayProducts products, so that late acks do not let the link run dry.
//   2. Least size. Where the product is small, a window holds what the link carries in a round trip and kAckLateness
//      more. That is in whole chunks, with one more for each connection, two at least. It is at most kEnoughChunks, and
//      exactly that where the rate is unknown. More would help nothing. What is in a window cannot be overtaken by what
//      is more urgent. On a slow link a few chunks are a good part of a round.
//   3. Auxiliary paths. Where the plan has a share for one, a window holds no more than makes the primary path busy.
//      What it does not hold can take the auxiliary path.
//   4. Fixed size. A job may set the size of all windows, instead of rules 1 to 3.
//   5. Connections. The connections of a link share it. Each looks for more than its part of the rate, and together
//      they fill its queue. So a link uses no more of them than have `bytes_per_connection` each of its product, and at
//      least one. A congestion control that takes each loss for a full queue keeps no more than that on its way.
//      Others, such as BBR, are given kSteadyFactor times as much, which a kernel's buffers for a connection still
//      hold.
//   6. Pace. All connections of a link together are paced at its rate. A congestion control that looks for the rate
//      fills the link's queue. Each hop of a chunk then takes twice as long, and a round waits for what overflows.
//      Headers take a part of the rate, and PaceAfter is above what is measured. So it is seen when a link has become
//      faster.
//   7. No pace. A link has none where its rate is unknown, guessed (PaceSearch finds it), or comes from Eq. 14
//   (kOneWayDelay), which reads low. Nor has
//      one that a host's cap keeps below its rate. Its own queue does not fill there, and links without a pace would
//      get more of the cap.
//   8. Caps. Where the links of a host share a cap, rules 1 and 2 take a link's planned part of the cap for its rate.
//      What the cap does not let through would only wait there, before chunks that are more urgent.
//   9. Round trips under a cap. There rules 1 and 2 take at least the mean round trip of the links that share the cap,
//      weighted by their parts of it. What waits at the cap delays all of them alike, and a window as short as its link
//      would leave that behind the others.
//  10. What a link has shown. A link that has shown more than its policies believe has a window for what it has shown.
//      Rule 1 doubles that, so that a window does not bind the search for a rate (PaceSearch). One that was busy and
//      has shown less than half has a window for twice of what it has shown. A cap's part stays as it is planned.
//  11. Policies. Rounds of several policies share a link. Its window is the largest that a live policy needs, with the
//      most connections and the highest pace.
#ifndef BANYAN_NODE_PEERS_LINK_WINDOWS_H_
#define BANYAN_NODE_PEERS_LINK_WINDOWS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "core/ids.h"
#include "node/link/link_window.h"
#include "node/link/pace_search.h"
#include "node/peers/auxiliary_selector.h"
#include "proto/policy_slice.h"

namespace banyan {

class LinkWindows {
 public:
  static constexpr int64_t kBandwidthDelayProducts = 2;
  // An ack may be late by this. Chunks wait for a processor, to be summed and for those before them to be read. The ack
  // waits behind chunks of the way back, 20 to 30 ms where both directions are full.
  static constexpr absl::Duration kAckLateness = absl::Milliseconds(40);
  static constexpr int64_t kSteadyFactor = 16;
  // Rule 2 needs no more, however fast a link is.
  static constexpr int64_t kEnoughChunks = 16;

  struct Options {
    int64_t fixed_bytes = 0;           // the size of every window; 0 for windows that suit their links
    int64_t connections = 1;           // that a link has
    int64_t bytes_per_connection = 0;  // of a bandwidth-delay product; 0: all connections are used
    bool loss_limited = false;         // the congestion control takes each loss for a full queue
  };

  explicit LinkWindows(Options options) : options_(options) {}

  // Chooses the windows of a policy. Known versions stay as they are. REQUIRES: `auxiliary paths` knows the policy.
  void AddPolicy(const PolicySlice& slice, const AuxiliarySelector& auxiliary_paths);
  // Forgets all versions below `oldest`.
  void RetirePolicies(PolicyVersion oldest);

  // Returns the window of the link to `neighbour`, which has shown `shown`; empty when no live policy names it.
  std::optional<LinkWindow> For(NodeId neighbour, const PaceSearch::Shown& shown = {}) const;

 private:
  // What a policy wants of a link.
  struct Wanted {
    double link_bps = 0;  // of the link itself
    double rate_bps = 0;  // that it reaches: less where a host's cap leaves it less
    bool is_capped = false;
    bool is_guessed = false;
    bool is_paced = false;
    absl::Duration link_round_trip;
    absl::Duration round_trip;  // rule 9
    int64_t chunk_bytes = 0;
    std::optional<int64_t> limit_bytes;  // rule 3
  };

  LinkWindow WindowOf(const Wanted& wanted, const PaceSearch::Shown& shown) const;
  // Returns the limit of rule 3 for a link that is given a window for `rate_bps`.
  static std::optional<int64_t> LimitFor(const Wanted& wanted, double rate_bps);
  // Returns how many connections rule 5 allows. It looks at the link's own product: a host's cap does not keep the
  // link's queue from filling.
  int64_t Connections(double link_bps, absl::Duration round_trip) const;

  const Options options_;
  std::map<PolicyVersion, std::map<NodeId, Wanted>> wanted_;  // by policies that live
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_LINK_WINDOWS_H_
