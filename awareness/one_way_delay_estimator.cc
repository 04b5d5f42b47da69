#include "awareness/one_way_delay_estimator.h"

namespace banyan {

bool OneWayDelayEstimator::Add(int64_t size_bytes, absl::Duration one_way) {
  if (size_bytes < probe_chunk_bytes_ || size_bytes <= 0 || one_way <= absl::ZeroDuration()) return false;
  sum_bps_ += static_cast<double>(size_bytes) * 8 / absl::ToDoubleSeconds(one_way);
  if (++counted_ < probe_chunks_) return false;
  rate_bps_ = sum_bps_ / counted_;
  sum_bps_ = 0;
  counted_ = 0;
  return true;
}

}  // namespace banyan
