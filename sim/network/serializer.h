// A wire of a fixed rate that carries one thing after the other: what a link, or a host's cap over all its links, does
// to bytes. Thread-compatible value.
#ifndef BANYAN_SIM_NETWORK_SERIALIZER_H_
#define BANYAN_SIM_NETWORK_SERIALIZER_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/check.h"

namespace banyan {

class Serializer {
 public:
  // `rate_bps` 0 means that bytes take no time.
  explicit Serializer(double rate_bps = 0) : rate_bps_(rate_bps) { BANYAN_CHECK(rate_bps >= 0); }

  double rate_bps() const { return rate_bps_; }
  void set_rate_bps(double rate_bps) { rate_bps_ = rate_bps; }

  int64_t DurationNs(int64_t size_bytes) const {
    return rate_bps_ == 0 ? 0 : static_cast<int64_t>(std::ceil(static_cast<double>(size_bytes) * 8e9 / rate_bps_));
  }

  // Returns the time at which the last of `size_bytes` bytes has left, if the first may leave at `earliest_ns`. The
  // wire is theirs until then.
  int64_t Reserve(int64_t earliest_ns, int64_t size_bytes) {
    free_ns_ = std::max(earliest_ns, free_ns_) + DurationNs(size_bytes);
    return free_ns_;
  }

  // Returns how long what comes now waits until the wire is its own.
  int64_t BacklogNs(int64_t now_ns) const { return std::max<int64_t>(0, free_ns_ - now_ns); }

  // Nothing leaves before `until_ns`.
  void Stall(int64_t until_ns) { free_ns_ = std::max(free_ns_, until_ns); }

 private:
  double rate_bps_;
  int64_t free_ns_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_SERIALIZER_H_
