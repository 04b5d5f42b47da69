// Estimates the rate of a link from how long single chunks were under way: NETSTORM (Li et al., "Accelerating
// Geo-distributed Machine Learning with Network-Aware Adaptive Tree and Auxiliary Route"), section V, Eq. 14. It is the
// mean of size / (arrival - departure) over a few chunks.
//
// Its error: let a link have the rate R and the propagation delay d. A chunk of S bytes, with q chunks of its size
// ahead of it, takes d + (q + 1) S/R. So the estimate is R / (1 + q + d R/S). That is right only for one chunk at a
// time on a link whose delay is short beside S/R. With eight chunks in flight it is an eighth of the rate. It never
// reads high, except by the error e of the clock offset, which changes it by e R/S of itself. DeliveryRateEstimator has
// neither error.
// Thread-compatible; owned by LinkMeter.
#ifndef BANYAN_AWARENESS_ONE_WAY_DELAY_ESTIMATOR_H_
#define BANYAN_AWARENESS_ONE_WAY_DELAY_ESTIMATOR_H_

#include <cstdint>

#include "absl/time/time.h"

namespace banyan {

class OneWayDelayEstimator {
 public:
  // Leaves out chunks below `probe_chunk_bytes`; `probe_chunks` (at least 1) of the others give one estimate. In
  // NETSTORM these are PROBE_CHUNK_SIZE and PROBE_CHUNK_NUM.
  OneWayDelayEstimator(int64_t probe_chunk_bytes, uint32_t probe_chunks)
      : probe_chunk_bytes_(probe_chunk_bytes), probe_chunks_(probe_chunks) {}

  // Counts a chunk that was `one_way` under way, by one clock, unless that time cannot be. Returns whether it completes
  // a set, so that there is a new estimate.
  bool Add(int64_t size_bytes, absl::Duration one_way);
  // Returns the estimate of the last full set; 0 before the first.
  double rate_bps() const { return rate_bps_; }

 private:
  int64_t probe_chunk_bytes_;
  uint32_t probe_chunks_;
  uint32_t counted_ = 0;
  double sum_bps_ = 0;
  double rate_bps_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_AWARENESS_ONE_WAY_DELAY_ESTIMATOR_H_
