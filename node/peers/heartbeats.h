// When one neighbour was last heard, and the heartbeats that both sides exchange. Thread-compatible; owned by
// Neighbour.
//
// Invariants:
//   1. A neighbour is found lost at most once between two of its messages; with each message it is there again.
//   2. Each heartbeat of the neighbour is echoed at most once, by the next one of this node.
//   3. Heartbeats leave at their interval however much else is sent: their times tell the offset of the clocks.
#ifndef BANYAN_NODE_PEERS_HEARTBEATS_H_
#define BANYAN_NODE_PEERS_HEARTBEATS_H_

#include <algorithm>
#include <optional>

#include "absl/time/time.h"
#include "core/time.h"
#include "proto/peer_messages.h"

namespace banyan {

class Heartbeats {
 public:
  // Takes the neighbour as heard, and as told, at `now`.
  explicit Heartbeats(Timestamp now) : last_heard_(now), last_sent_(now) {}

  // Notes that any message of the neighbour has come.
  void OnHeard(Timestamp now) {
    last_heard_ = now;
    is_lost_ = false;
  }
  // Keeps the times of `heartbeat` for the echo.
  void OnHeartbeat(const PeerHeartbeat& heartbeat, Timestamp now) { echo_ = {heartbeat.sent_at, now}; }
  // Excuses a `pause` of this process: what the neighbour sent meanwhile is still to be read.
  void ExcusePause(absl::Duration pause, Timestamp now) { last_heard_ = std::min(last_heard_ + pause, now); }
  // Returns true, once in each silence, when the neighbour has been silent for more than `lost_after`.
  bool BecomesLost(Timestamp now, absl::Duration lost_after);
  // Returns true from then on until the neighbour is heard again.
  bool is_lost() const { return is_lost_; }
  // Returns the heartbeat to send now; empty when the last one was sent less than `interval` ago.
  std::optional<PeerHeartbeat> TakeDue(Timestamp now, absl::Duration interval);

 private:
  Timestamp last_heard_;
  Timestamp last_sent_;
  std::optional<PeerHeartbeat::Echo> echo_;  // of its newest heartbeat, until the next one of this node takes it
  bool is_lost_ = false;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_HEARTBEATS_H_
