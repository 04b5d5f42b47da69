// Measures the directed link to one neighbour from the traffic on it: rate, propagation delay, clock offset. No message
// is sent for that. Link acks bring the times of chunks, heartbeats those of messages without size.
//
// Two estimates of the rate are kept side by side, and Settings::estimator says which one decides. NETSTORM's
// (OneWayDelayEstimator) divides each chunk by the time it was under way. The chunks ahead of it and the delay make it
// read low. So it is right only for one chunk at a time on a short link. The delivery rate (DeliveryRateEstimator)
// stays within a few percent under pipelining and decides by default; the other is then reported beside it for
// comparison. See their headers for both errors.
//
// Where Eq. 14 decides, each of its estimates counts as the rate, as in NETSTORM: from the first one on, and whether
// the link was busy or not.
//
// For kStart after its first chunk the delivery rate is a lower bound only, whatever the link. Congestion control is
// looking for the rate and fills queues meanwhile, which hold back acks where all links of a job start together. The
// rate that was learned until then is forgotten. No longer: a job that was told little learns most in its first round.
//
// The propagation delay is that of heartbeats and of chunks of at most kSmallBytes (PropagationDelay). So a standing
// queue of other traffic adds to it. Nobody can tell which part of a round trip belongs to which direction: each
// direction counts as half of it.
// Thread-compatible; owned by Neighbour, one for each incarnation.
#ifndef BANYAN_AWARENESS_LINK_METER_H_
#define BANYAN_AWARENESS_LINK_METER_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "awareness/clock_offset.h"
#include "awareness/delivery_rate_estimator.h"
#include "awareness/one_way_delay_estimator.h"
#include "awareness/propagation_delay.h"
#include "awareness/windowed_minimum.h"
#include "core/time.h"
#include "proto/peer_messages.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"

namespace banyan {

class LinkMeter {
 public:
  static constexpr int64_t kSmallBytes = 4096;
  // Some ten round trips between continents, in which a transport finds the rate.
  static constexpr absl::Duration kStart = absl::Seconds(2);

  struct Settings {
    int64_t probe_chunk_bytes = 40000;
    uint32_t probe_chunks = 4;
    RateEstimator estimator = RateEstimator::kDelivery;
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  struct AckedChunk {
    int64_t size_bytes = 0;  // of the payload
    Timestamp sent_at;       // own clock
    Timestamp received_at;   // the neighbour's clock
    bool is_auxiliary = false;
  };
  struct Sample {
    double rate_bps = 0;
    Timestamp at;  // own clock
  };

  explicit LinkMeter(Settings settings);

  // Forgets the rate if these are other settings.
  void Configure(Settings settings);
  // A link ack has come. REQUIRES: `now` is not before the `now` of any call before.
  void OnAck(const AckedChunk& chunk, Timestamp now);
  // A heartbeat of the neighbour has come. Echoes of what was never sent have no effect on more than this link's
  // values.
  void OnHeartbeat(const PeerHeartbeat& heartbeat, Timestamp now);
  // Returns what is known; empty until both a rate and the clock offset are. A delivery rate is not backlogged within
  // kStart.
  std::optional<LinkMeasurement> Measure(Timestamp now) const;
  // Returns the fastest that the link has been of late while it was kept busy; empty when it was not, or too shortly.
  // Noise and losses make single samples low: a link that has really become slow is slow in all of them. Where Eq. 14
  // decides it returns its newest estimate, which is of the same kind as the rates of the plan.
  std::optional<double> FastestBps(Timestamp now) const;
  // Returns the newest sample of the busy link, from the first one on; empty when there is none, or Eq. 14 decides.
  std::optional<Sample> NewestSample(Timestamp now) const;
  // The neighbour's clock against the own one.
  const ClockOffset& clock() const { return clock_; }
  // Returns whether a sample has become complete since the last call.
  bool TakeNews() { return std::exchange(seen_, delivery_rate_.samples()) != delivery_rate_.samples(); }

 private:
  // An estimate of the rate, in one form whichever estimator made it.
  struct Rate {
    double rate_bps = 0;
    bool is_backlogged = false;
    Timestamp at;
  };

  // Returns the estimate that decides; empty before there is one.
  std::optional<Rate> DecidingRate(Timestamp now) const;
  // Ends the start when it is over.
  void NoteStart(const AckedChunk& chunk, Timestamp now);
  void AddOneWay(int64_t size_bytes, Timestamp sent_at, Timestamp received_at, Timestamp now);

  Settings settings_;
  OneWayDelayEstimator one_way_rate_;
  std::optional<Timestamp> one_way_rate_at_;  // own clock; of its newest estimate
  DeliveryRateEstimator delivery_rate_;
  ClockOffset clock_;
  WindowedMinimum round_trip_{DeliveryRateEstimator::kRoundTripWindow};  // of heartbeats
  PropagationDelay delay_{DeliveryRateEstimator::kRoundTripWindow};
  std::optional<Timestamp> started_at_;  // the first ack of a chunk that has a size
  bool is_starting_ = true;
  int64_t seen_ = 0;  // samples of delivery_rate_, at the last TakeNews
  LinkMeasurement::Source source_ = LinkMeasurement::Source::kPrimary;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_LINK_METER_H_
