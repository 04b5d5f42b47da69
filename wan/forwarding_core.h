// The emulated network without its wires: trains in, trains out, by the links of an overlay. Pure: the time is handed
// in and must not decrease. Thread-compatible; owned by the forwarder.
//
// Every directed link is a channel, and so is every cap of a node, before the first and behind the last link of a
// route. Nodes without a link are joined by the route of fewest hops, whose links they share.
#ifndef BANYAN_WAN_FORWARDING_CORE_H_
#define BANYAN_WAN_FORWARDING_CORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/timed_queue.h"
#include "topology/network_view.h"
#include "wan/link_channel.h"
#include "wan/segment_train.h"

namespace banyan {

struct ForwardingOptions {
  uint64_t seed = 1;
  // The time that a full queue takes to drain; empty: 50 ms or the link's round trip, whichever is longer.
  std::optional<absl::Duration> queue_time;
  // To how many IP bytes full queues cut packets that say that they may be cut; 0: they drop them.
  uint32_t trim_bytes = 0;
};

// The counters and the present state of a link.
struct ChannelState {
  NodeId from;
  NodeId to;
  double rate_bps = 0;
  ChannelCounters counters;
  int64_t queued_bytes = 0;
  int64_t queue_limit_bytes = 0;
  bool is_cut = false;
};

// The end of a train's way: at its destination, or nowhere if no segment of it lives.
struct TrainEnd {
  SegmentTrain train;
  size_t node = 0;  // position in the view
};

class ForwardingCore {
 public:
  ForwardingCore(const NetworkView& view, const ForwardingOptions& options);

  // Returns whether a route leads from `from` to `to`, which are positions in the view. None leads from a node to
  // itself.
  bool HasRoute(size_t from, size_t to) const { return !routes_[RouteIndex(from, to)].empty(); }
  // Returns the least rate on the route at present. REQUIRES: HasRoute.
  double RouteRate(size_t from, size_t to) const;
  // The propagation delay of the shortest link on the route. REQUIRES: HasRoute.
  absl::Duration ShortestDelay(size_t from, size_t to) const;

  // REQUIRES: HasRoute, and Advance(now) before.
  void Send(int64_t now_ns, size_t from, size_t to, SegmentTrain train);
  // Moves everything that moves until then, in order of time.
  void Advance(int64_t now_ns);
  // Returns the time at which Advance has something to do; kNeverNs when nothing is under way.
  int64_t NextEventNs() const { return events_.empty() ? kNeverNs : events_.NextTime().nanoseconds(); }
  // The trains that have ended, in order. The caller clears it.
  std::vector<TrainEnd>& ended() { return ended_; }

  // False when there is no such link. REQUIRES: rate_bps > 0, and Advance(now) before.
  bool SetRate(int64_t now_ns, NodeId from, NodeId to, double rate_bps);
  // From now on nothing that `from` sends reaches `to`, or all of it does again. What other nodes send over the link's
  // wire passes, as it would where routers know another way. Returns false when there is no such link.
  bool SetCut(NodeId from, NodeId to, bool is_cut);
  // Returns the states of the links at `now_ns`, in the order of the view.
  std::vector<ChannelState> States(int64_t now_ns);

 private:
  struct Channel {
    LinkChannel link;
    int64_t scheduled_ns = kNeverNs;  // its entry in events_; others of it are stale
  };

  size_t RouteIndex(size_t from, size_t to) const { return from * nodes_ + to; }
  // REQUIRES: the link is one of the view's.
  size_t RouteIndexOf(const NetworkLink& link) const;
  uint32_t AddChannel(const ChannelOptions& options);
  std::vector<std::optional<uint32_t>> AddCaps(const ForwardingOptions& options,
                                               std::optional<double> NetworkNode::*cap_bps);
  void AddRoutes(const ForwardingOptions& options);
  void Offer(int64_t now_ns, const SegmentTrain& train);
  void TakeArrivals(int64_t now_ns, uint32_t channel);
  void Schedule(uint32_t channel);

  const NetworkView view_;
  const size_t nodes_;
  std::vector<Channel> channels_;              // first the links in the order of the view
  std::vector<std::vector<uint32_t>> routes_;  // channels, by RouteIndex
  std::vector<bool> is_cut_;                   // by RouteIndex
  TimedQueue<uint32_t> events_;                // channels
  std::vector<TrainEnd> ended_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_FORWARDING_CORE_H_
