#include "node/peers/heartbeats.h"

#include <utility>

namespace banyan {

bool Heartbeats::BecomesLost(Timestamp now, absl::Duration lost_after) {
  if (is_lost_ || now - last_heard_ <= lost_after) return false;
  is_lost_ = true;
  return true;
}

std::optional<PeerHeartbeat> Heartbeats::TakeDue(Timestamp now, absl::Duration interval) {
  if (now - last_sent_ < interval) return std::nullopt;
  last_sent_ = now;
  return PeerHeartbeat{now, std::exchange(echo_, std::nullopt)};
}

}  // namespace banyan
