#include "node/link/resend_timer.h"

namespace banyan {

void ResendTimer::OnAck(absl::Duration took, Timestamp now) {
  slowest_ack_ = std::max(took, slowest_ack_ - slowest_ack_ / 16);
  restarted_at_ = now;
  timeouts_in_a_row_ = 0;
}

void ResendTimer::OnTimeout(Timestamp now) {
  ++timeouts_in_a_row_;
  restarted_at_ = now;
}

absl::Duration ResendTimer::Timeout() const {
  const int doublings = std::min(timeouts_in_a_row_, kMostDoublings);
  return std::max(resend_after_, kOverdueFactor * slowest_ack_) * (1 << doublings);
}

}  // namespace banyan
