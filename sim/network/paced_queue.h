// The messages that wait in the kernel of a sender whose connection has a pace. A message is passed on to its link
// early enough that its last byte leaves an idle link when the pace lets it. A link that is busier takes longer.
// Thread-compatible; owned by the simulated network.
#ifndef BANYAN_SIM_NETWORK_PACED_QUEUE_H_
#define BANYAN_SIM_NETWORK_PACED_QUEUE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>

namespace banyan {

template <typename Item>
class PacedQueue {
 public:
  // 0, as at first: what waits is due at once.
  void SetRate(int64_t now_ns, double rate_bps) {
    Count(now_ns);
    rate_bps_ = rate_bps;
  }
  bool holds_back() const { return rate_bps_ > 0 || !waiting_.empty(); }
  bool empty() const { return waiting_.empty(); }

  void Push(int64_t now_ns, int64_t size_bytes, Item item) {
    Count(now_ns);
    if (waiting_.empty()) unpaced_bits_ += BitsOf(size_bytes);
    waiting_.emplace_back(size_bytes, std::move(item));
  }

  // Returns the time at which the first message is to be passed on to a link of the rate `link_bps`, 0 for one without
  // limit. REQUIRES: !empty().
  int64_t DueNs(double link_bps) const {
    if (rate_bps_ == 0) return counted_ns_;
    const double on_link_s = link_bps > 0 ? BitsOf(waiting_.front().first) / link_bps : 0;
    return counted_ns_ + std::max<int64_t>(0, std::llround((unpaced_bits_ / rate_bps_ - on_link_s) * 1e9));
  }
  // The first. REQUIRES: !empty().
  Item Pop(int64_t now_ns) {
    Count(now_ns);
    Item first = std::move(waiting_.front().second);
    waiting_.pop_front();
    if (!waiting_.empty()) unpaced_bits_ += BitsOf(waiting_.front().first);
    return first;
  }

 private:
  static double BitsOf(int64_t size_bytes) { return 8.0 * static_cast<double>(size_bytes); }

  void Count(int64_t now_ns) {
    const double paced_bits = rate_bps_ * static_cast<double>(now_ns - counted_ns_) * 1e-9;
    unpaced_bits_ = rate_bps_ == 0 ? 0 : std::max(0.0, unpaced_bits_ - paced_bits);
    counted_ns_ = now_ns;
  }

  double rate_bps_ = 0;
  std::deque<std::pair<int64_t, Item>> waiting_;
  double unpaced_bits_ = 0;  // of the first, and of those before it
  int64_t counted_ns_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_SIM_NETWORK_PACED_QUEUE_H_
