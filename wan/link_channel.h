// One direction of an emulated link: a drop-tail queue, a wire of a rate that may change, propagation, and random loss.
// Pure: the time is handed in and must not decrease. Thread-compatible; owned by the forwarding core.
//
// Trains leave in the order in which they came. Of a train that the queue has no room for, the segments that fit are
// taken. Where `trim_bytes` is set, a packet that says that it may be cut is cut to so many bytes instead, and
// overtakes what is whole, as in switches that trim (NDP, Ultra Ethernet). Loss strikes on the wire, segment by
// segment: a lost one has used the queue and the rate. Which segments of the sequence are lost depends on the seed
// alone.
#ifndef BANYAN_WAN_LINK_CHANNEL_H_
#define BANYAN_WAN_LINK_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>

#include "absl/time/time.h"
#include "core/random.h"
#include "wan/segment_train.h"

namespace banyan {

// No queue is smaller than this, so that it holds the largest packet of a kernel with segmentation offload.
inline constexpr int64_t kLeastQueueBytes = 65536;
// What waits of cut packets, beside the queue's own limit.
inline constexpr int64_t kTrimmedQueueBytes = 65536;
inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();

struct ChannelOptions {
  double rate_bps = 0;        // above 0
  absl::Duration delay;       // propagation
  double loss_fraction = 0;   // of segments, in [0, 1)
  absl::Duration queue_time;  // the queue holds what the wire carries in this time, kLeastQueueBytes at least
  uint64_t loss_seed = 0;
  uint32_t trim_bytes = 0;  // of IP, to which packets are cut; 0: they are dropped
};

struct ChannelCounters {
  int64_t sent_bytes = 0;  // that left the queue, lost ones among them
  int64_t sent_segments = 0;
  int64_t lost_segments = 0;     // on the wire
  int64_t dropped_segments = 0;  // for want of room in the queue
  int64_t trimmed_segments = 0;  // likewise
};

class LinkChannel {
 public:
  explicit LinkChannel(const ChannelOptions& options);

  // Takes the segments that fit. False when none does: then the train is gone.
  bool Offer(int64_t now_ns, SegmentTrain train);

  // Returns the time at which the next train arrives at the other end if nothing changes; kNeverNs when none is under
  // way.
  int64_t NextArrivalNs() const;
  // The next train if it has arrived by now; one of which every segment was lost arrives too, without living segments.
  bool TakeArrival(int64_t now_ns, SegmentTrain* train);

  // From now on, for what waits and for the rest of what is being sent.
  void SetRate(int64_t now_ns, double rate_bps);

  double rate_bps() const { return rate_bps_; }
  int64_t queue_limit_bytes() const { return queue_limit_bytes_; }
  // With the train that is being sent.
  int64_t QueuedBytes(int64_t now_ns);
  const ChannelCounters& counters() const { return counters_; }

 private:
  struct InFlight {
    int64_t arrival_ns;
    SegmentTrain train;
  };

  int64_t WireNs(const SegmentTrain& train) const;
  // Moves what has been sent by now from the queue onto its way.
  void Serve(int64_t now_ns);
  // Cuts a packet that the queue has no room for.
  void TrimIfFull(SegmentTrain& train);
  bool OfferTrimmed(int64_t now_ns, const SegmentTrain& train);
  void LoseSegments(SegmentTrain& train);
  void DrawNextLoss();
  // Kills the segments at the end of the train that the queue has no room for.
  void DropTail(SegmentTrain& train);
  void SizeQueue();

  double rate_bps_;
  const int64_t delay_ns_;
  const double loss_fraction_;
  const double queue_seconds_;
  const uint32_t trim_bytes_;
  int64_t queue_limit_bytes_ = 0;
  Random random_;
  int64_t segments_before_loss_ = 0;

  std::deque<SegmentTrain> queue_;  // the first is being sent; behind it those that were cut, then the others
  size_t trimmed_waiting_ = 0;      // behind the first
  int64_t trimmed_bytes_ = 0;       // in the queue
  int64_t queued_bytes_ = 0;        // in the queue, of trains that were not cut
  int64_t head_sent_ns_ = 0;        // when the first of the queue will have been sent
  std::deque<InFlight> in_flight_;
  ChannelCounters counters_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_LINK_CHANNEL_H_
