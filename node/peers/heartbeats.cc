#include "node/peers/heartbeats.h"

#include <utility>

namespace banyan {

bool Heartbeats::OnHeartbeat(const PeerHeartbeat& heartbeat, Timestamp now) {
  echo_ = {heartbeat.sent_at, now};
  const bool is_answer =
      heartbeat.echo.has_value() && deaf_since_.has_value() && heartbeat.echo->sent_at >= *deaf_since_;
  if (!is_answer) return false;
  echoed_ = heartbeat.echo->sent_at;
  deaf_since_.reset();
  is_deaf_ = false;
  if (unechoed_since_.has_value() && heartbeat.echo->sent_at >= *unechoed_since_) unechoed_since_.reset();
  return true;
}

void Heartbeats::Forgive(Timestamp now) {
  OnHeard(now);
  unechoed_since_.reset();
  deaf_since_.reset();
  is_deaf_ = false;
}

void Heartbeats::ExcusePause(absl::Duration pause, Timestamp now) {
  last_heard_ = std::min(last_heard_ + pause, now);
  // What it echoes is read first.
  unechoed_since_.reset();
  deaf_since_.reset();
}

bool Heartbeats::BecomesLost(Timestamp now, absl::Duration lost_after) {
  const bool was_lost = is_lost();
  is_silent_ = is_silent_ || now - last_heard_ > lost_after;
  is_deaf_ = is_deaf_ || (deaf_since_.has_value() && now - *deaf_since_ > kLostWithoutEcho * lost_after);
  return is_lost() && !was_lost;
}

std::optional<PeerHeartbeat> Heartbeats::TakeDue(Timestamp now, absl::Duration interval) {
  if (now - last_sent_ < interval) return std::nullopt;
  last_sent_ = now;
  if (!unechoed_since_.has_value()) unechoed_since_ = now;
  if (!deaf_since_.has_value()) deaf_since_ = now;
  return PeerHeartbeat{now, std::exchange(echo_, std::nullopt)};
}

}  // namespace banyan
