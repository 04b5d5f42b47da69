// Estimates the rate of a link from what arrives between two acknowledgements, as delivery-rate estimation in BBR does
// (Cheng, Cardwell, Hassas Yeganeh, Jacobson, draft-cheng-iccrg-delivery-rate-estimation). It takes the receiver's
// arrival times, so neither the way back nor the clocks' offset matters. Thread-compatible; owned by LinkMeter.
//
// Rules:
//   1. Gaps. A gap between two arrivals counts when the link was busy in all of it. That is so when the later chunk was
//      sent a whole round trip before the earlier one's ack came back. It then reached the link before the earlier one
//      left. The draft takes max(send interval, receive interval) instead, against senders that pause. Here gaps with a
//      pause are left out, and those that count need no bound.
//   2. Samples. Bytes and times of gaps that count make up a sample, and the estimate is the median of the last few.
//      Pauses of either process spoil a sample or two and no estimate. A true change is seen after half of the samples.
//      There is no maximum filter, so a drop is not hidden.
//   3. Late acks. Acks wait behind the traffic of the way back, for far longer than a round trip where that is slow. If
//      the whole window is on its way, nothing moves on the link meanwhile, and such a gap must not count. So an ack
//      counts as having come when it would have without that wait. That is the chunk's arrival and the least time of
//      late from an arrival to its ack; the clocks' offset is in both. Only the lower bound of rule 7 rests on when the
//      ack did come. An empty message's round trip may be longer than the least ways there and back together.
//   4. Overtaking. Over several connections a chunk may be overtaken by later ones. Its bytes then belong to the gap
//      before the first that overtook it, in which they passed the link. They count in the sample of that gap.
//   5. Bunches. A lost packet holds its chunk back by a round trip, and with it those behind on its connection. They
//      come in a bunch. What comes of a bunch after the chunk that made a sample full counts in that sample too.
//   6. Chunks held back. A chunk that found the link idle may be held back. Gaps behind it that are shorter than the
//      link takes for a chunk do not count. That holds for the gaps in its bunch, and for the gap from the bunch to the
//      next chunk, which came in time.
//   7. Lone chunks. A chunk that travelled alone, and took many round trips to go, kept the link busy by itself and
//      makes a sample. A shorter one only tells that the link is at least so fast: a transport that has been idle
//      starts slowly. It may raise the estimate and confirms one that it reaches, but never lowers it.
//   8. Small windows. With a window below the bandwidth-delay product the link is never busy, and nothing is learned
//      but a lower bound.
//
// Errors:
//   1. Jitter of J errs by J / kLeastSpan in one sample, and by about half of that in the median. Samples span at least
//      kLeastSpan, half of it where chunks are rare.
//   2. Up to kIdleTolerance of a gap may have been idle, which reads low by as much.
//   3. A path whose least round trip has grown reads low for at most kRoundTripWindow.
//   4. Where the next chunk only just comes in time, jitter hides idle time of up to twice itself.
//   5. Several connections deliver in bunches, which evens out within a sample unless that is shorter than two bunches.
//   6. Headers are not counted, below a tenth of a percent of a chunk.
//   7. What other links take of a host's cap is not counted: it measures what this link gets.
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
    double fastest_bps = 0;      // of the samples that `rate_bps` is the median of
    double newest_bps = 0;       // of the newest of them
    size_t samples = 0;          // that it is the median of
    bool is_backlogged = false;  // from a link that was kept busy; else a lower bound
    Timestamp at;                // when its newest sample was complete, by the sender's clock
  };

  // A sample is of at least `probe_chunk_bytes` bytes. It is of at least `probe_chunks` chunks, which is 1 or more,
  // unless it spans a second or no more chunks come.
  DeliveryRateEstimator(int64_t probe_chunk_bytes, uint32_t probe_chunks)
      : probe_chunk_bytes_(probe_chunk_bytes), probe_chunks_(probe_chunks) {}

  // Adds a delivery, in the order of acknowledgements. `round_trip` is the least that an empty message takes there and
  // back, nothing when unknown. No gap counts until it is known.
  void Add(const Delivery& delivery, std::optional<absl::Duration> round_trip);
  // Forgets the rate, and keeps what tells whether the next chunks find the link busy.
  void ForgetRate();
  // Returns the estimate at `now`; empty when nothing is known. REQUIRES: `now` is not before any `acked_at`.
  std::optional<Estimate> At(Timestamp now) const;
  // Returns how many samples have been complete so far, lone chunks among them.
  int64_t samples() const { return samples_; }

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
    // The arrival of the chunk that had been held back: this one, or one that this one came right behind. The next gap
    // is then too short. By the receiver's clock.
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

  // Adds a chunk that was sent no earlier than all before. `empty` is the round trip of an empty message, when known.
  // Returns the sample in which the gap before this chunk counts.
  int64_t AddInOrder(const Delivery& delivery, std::optional<absl::Duration> empty);
  // Adds a gap that counts, as AddInOrder.
  int64_t AddGap(const Delivery& delivery, absl::Duration gap);
  // Returns whether a chunk came in a bunch with what the newest sample ends with, which would read low without it.
  bool BelongsToLast(int64_t size_bytes, absl::Duration gap) const;
  // Returns how long the link takes for `size_bytes`, by the fastest sample. While there is none, by the fastest chunk
  // of late.
  absl::Duration Serialisation(int64_t size_bytes, absl::Duration empty) const;
  // Returns when the ack would have come if it had not waited on the way back. REQUIRES: some delivery was added.
  Timestamp AckedWithoutWait(const Delivery& delivery) const;
  // Returns the Arrival::late_since of a chunk whose gap does not count.
  std::optional<Timestamp> LateSince(const Delivery& delivery, absl::Duration empty) const;
  // Adds a chunk that travelled alone (rule 7).
  void AddAlone(const Delivery& delivery, absl::Duration round_trip);
  // Adds a chunk that was overtaken. The first that overtook it ended a gap of `sample`.
  void AddOvertaken(const Delivery& delivery, int64_t sample);
  // Returns whether no chunk has come for so long that the partial makes a sample as it is.
  bool PartialIsOver(Timestamp now) const;
  void BeginPartial();
  // Makes a sample of the partial, and begins the next one.
  void TakePartial();
  std::optional<Estimate> estimate() const;
  void Push(std::deque<Sample>& samples, Sample sample);
  // REQUIRES: there are `samples`.
  static Estimate EstimateOf(const std::deque<Sample>& samples, bool is_backlogged);

  int64_t probe_chunk_bytes_;
  uint32_t probe_chunks_;
  WindowedMinimum chunk_round_trip_{kRoundTripWindow};
  WindowedMinimum way_back_{kRoundTripWindow};  // from arrival, by the receiver's clock, to acknowledgement
  std::deque<Arrival> recent_;                  // that were not overtaken; the newest last
  Partial partial_;
  int64_t samples_ = 0;
  std::deque<Sample> busy_;
  std::deque<Sample> alone_;  // since the newest of those
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_DELIVERY_RATE_ESTIMATOR_H_
