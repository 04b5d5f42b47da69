// The rate of a link from what is delivered between two acknowledgements, as delivery-rate estimation in BBR does
// (Cheng, Cardwell, Hassas Yeganeh, Jacobson, draft-cheng-iccrg-delivery-rate-estimation), but on the receiver's
// arrival times, so that neither the way back nor the clocks' offset matters.
//
// What counts. A gap between two arrivals counts when the link was busy in all of it: the later chunk had been sent a
// whole round trip before the earlier one's acknowledgement came back, so it had reached the link before the earlier
// one had left it. This takes the place of the send interval in the draft's max(send interval, receive interval), which
// keeps a sender that pauses from being measured: such gaps are left out, and those that count need no bound. Bytes and
// times of such gaps make up a sample; the estimate is the median of the last few. Pauses of either process spoil a
// sample or two and no estimate; a true change is seen after half of them. There is no maximum filter, so a drop is not
// hidden.
//
// Acks wait behind the traffic of the way back, for far longer than a round trip where that is slow. Nothing moves on
// the link meanwhile when the window is on its way, so a gap in which the sender only waited for them must not count.
// An acknowledgement therefore counts as having come when it would have without that wait: the least time from arrival
// to acknowledgement of late after the arrival. The clocks' offset is in both. Only a lower bound (below) rests on when
// it came: the round trip of a message without size may be longer than the least ways there and back together.
//
// Over several connections a chunk may be overtaken by later ones. Its bytes then belong to the gap before the first
// that overtook it, in which they passed the link, and count in the sample in which that gap does.
//
// A lost packet holds its chunk back by a round trip, and with it those behind on its connection, which then come in a
// bunch. What of a bunch comes after the chunk that made a sample full counts in that sample too. And when a chunk that
// had found the link idle was held back, gaps behind it that are shorter than the link takes for a chunk do not count,
// neither its own to those of its bunch nor the bunch's to the next chunk, which came in time.
//
// A chunk that travelled alone, and took many round trips to go, kept the link busy by itself and makes a sample too. A
// shorter lone chunk only tells that the link is at least so fast (a transport that has been idle starts slowly): it
// may raise the estimate and confirms one that it reaches, but never lowers it.
//
// Its error. Samples span at least kLeastSpan (half of it where chunks are rare), so jitter of J errs by J /
// kLeastSpan in one sample and by about half of that in the median. Up to kIdleTolerance of a gap may have been idle,
// which reads low by as much; a path whose least round trip has grown reads low for at most kRoundTripWindow, and where
// the next chunk only just comes in time, jitter hides idle time of up to twice itself. Several connections that share
// the link deliver in bunches, which evens out within a sample unless it is shorter than two bunches. Headers are not
// counted (below a tenth of a percent of a chunk), nor what other links take of a host's cap: it measures what this
// link gets. With a window below the bandwidth-delay product the link is never busy and nothing is learned but a lower
// bound.
// Thread-compatible; owned by LinkMeter.
#ifndef BANYAN_AWARENESS_DELIVERY_RATE_ESTIMATOR_H_
#define BANYAN_AWARENESS_DELIVERY_RATE_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "awareness/windowed_minimum.h"
#include "core/time.h"

namespace banyan {

class DeliveryRateEstimator {
 public:
  static constexpr absl::Duration kLeastSpan = absl::Milliseconds(200);
  static constexpr double kIdleTolerance = 0.02;
  static constexpr absl::Duration kRoundTripWindow = absl::Seconds(30);

  struct Delivery {
    int64_t size_bytes = 0;
    Timestamp sent_at;      // the sender's clock
    Timestamp acked_at;     // the sender's clock
    Timestamp received_at;  // the receiver's clock
  };
  struct Estimate {
    double rate_bps = 0;
    double fastest_bps = 0;  // of the samples that it is the median of
    size_t samples = 0;
    // From a link that was kept busy; else a lower bound.
    bool is_backlogged = false;
    Timestamp at;  // sender's clock: when the newest sample that it rests on was complete
  };

  // A sample is of at least `probe_chunks` (at least 1) chunks, unless it spans a second or no more come, and of at
  // least `probe_chunk_bytes` bytes.
  DeliveryRateEstimator(int64_t probe_chunk_bytes, uint32_t probe_chunks)
      : probe_chunk_bytes_(probe_chunk_bytes), probe_chunks_(probe_chunks) {}

  // In order of acknowledgement. `round_trip` is the least that a message without size takes there and back, empty when
  // unknown; no gap counts until it is known.
  void Add(const Delivery& delivery, std::optional<absl::Duration> round_trip);
  // Forgets the rate, and keeps what tells whether the next chunks find the link busy.
  void ForgetRate();
  // REQUIRES: `now` is not before any `acked_at`.
  std::optional<Estimate> At(Timestamp now) const;

 private:
  static constexpr int64_t kNoSample = -1;

  struct Sample {
    int64_t number = kNoSample;  // of the partial that it was, none for a lone chunk
    int64_t size_bytes = 0;
    absl::Duration span;
    Timestamp at;
  };
  struct Arrival {
    Delivery delivery;
    int64_t counted_in = kNoSample;  // the gap before it
    // By the receiver's clock: when a chunk that had been held back came, this one or others with this one behind, so
    // that the next gap is too short.
    std::optional<Timestamp> late_since;
  };
  // The bytes and times of gaps that count and have not yet become a sample.
  struct Partial {
    int64_t number = 0;
    uint32_t chunks = 0;
    int64_t size_bytes = 0;
    absl::Duration span;
    Timestamp at;  // of the last
  };

  // `empty` is the round trip of a message without size, when known. Returns the sample in which the gap before this
  // chunk counts. REQUIRES: it was sent no earlier than all before.
  int64_t AddInOrder(const Delivery& delivery, std::optional<absl::Duration> empty);
  int64_t AddGap(const Delivery& delivery, absl::Duration gap);
  // Whether it came in a bunch with what the newest sample ends with, which without it would read low.
  bool BelongsToLast(int64_t size_bytes, absl::Duration gap) const;
  // By the fastest sample; while there is none, by the fastest chunk of late.
  absl::Duration Serialisation(int64_t size_bytes, absl::Duration empty) const;
  // When its ack would have come if it had not waited on the way back. REQUIRES: some delivery was added.
  Timestamp AckedWithoutWait(const Delivery& delivery) const;
  // Arrival::late_since of a chunk whose gap does not count.
  std::optional<Timestamp> LateSince(const Delivery& delivery, absl::Duration empty) const;
  void AddAlone(const Delivery& delivery, absl::Duration round_trip);
  // The first chunk that overtook it ended a gap of this sample.
  void AddOvertaken(const Delivery& delivery, int64_t sample);
  bool PartialIsOver(Timestamp now) const;
  void BeginPartial();
  void TakePartial();
  std::optional<Estimate> estimate() const;
  static void Push(std::deque<Sample>& samples, Sample sample);
  // REQUIRES: not empty.
  static Estimate EstimateOf(const std::deque<Sample>& samples, bool is_backlogged);

  int64_t probe_chunk_bytes_;
  uint32_t probe_chunks_;
  WindowedMinimum chunk_round_trip_{kRoundTripWindow};
  WindowedMinimum way_back_{kRoundTripWindow};  // from arrival, by the receiver's clock, to acknowledgement
  std::deque<Arrival> recent_;                  // that were not overtaken; the newest last
  Partial partial_;
  std::deque<Sample> busy_;
  std::deque<Sample> alone_;  // since the newest of those
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_DELIVERY_RATE_ESTIMATOR_H_
