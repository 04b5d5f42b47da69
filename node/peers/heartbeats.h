// When one neighbour was last heard, and the heartbeats that both sides exchange. Thread-compatible; owned by
// Neighbour.
//
// Invariants:
//   1. A neighbour is found lost at most once in each silence, which ends with its next message, and at most once while
//      it echoes nothing.
//   2. Each heartbeat of the neighbour is echoed at most once, by the next one of this node.
//   3. A heartbeat that is not echoed shows that the way to the neighbour, or the way back, carries nothing.
//   4. Heartbeats leave at their interval however much else is sent: their times tell the offset of the clocks.
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
  // A neighbour that is heard and echoes nothing for so many times the silence that ends it is lost too: greetings pass
  // on each new connection, and nothing after them. There is time to make a connection anew before.
  static constexpr double kLostWithoutEcho = 1.5;

  // Takes the neighbour as heard, and as told, at `now`.
  explicit Heartbeats(Timestamp now) : last_heard_(now), last_sent_(now) {}

  // Notes that any message of the neighbour has come.
  void OnHeard(Timestamp now) {
    last_heard_ = now;
    is_silent_ = false;
  }
  // Expects nothing of what went before.
  void Forgive(Timestamp now);
  // Keeps the times of `heartbeat` for the echo. Returns whether it echoes one of this node, which so reaches it.
  bool OnHeartbeat(const PeerHeartbeat& heartbeat, Timestamp now);
  // The connection that carries this node's heartbeats is a new one.
  void OnConnectionUp() { unechoed_since_.reset(); }
  // Excuses a `pause` of this process: what the neighbour sent meanwhile is still to be read.
  void ExcusePause(absl::Duration pause, Timestamp now);
  // Returns true, once, when the neighbour has been silent for more than `lost_after`, or has echoed nothing for long.
  bool BecomesLost(Timestamp now, absl::Duration lost_after);
  // Returns how long heartbeats of this node have gone out on this connection and have not been echoed.
  absl::Duration UnechoedFor(Timestamp now) const {
    return unechoed_since_.has_value() ? now - *unechoed_since_ : absl::ZeroDuration();
  }
  // Returns when the newest heartbeat of this node that was echoed was sent.
  Timestamp echoed() const { return echoed_; }
  // Returns true from then on until the neighbour is heard again, or echoes.
  bool is_lost() const { return is_silent_ || is_deaf_; }
  // Returns whether it is lost because it is not heard.
  bool is_silent() const { return is_silent_; }
  // Returns the heartbeat to send now; empty when the last one was sent less than `interval` ago.
  std::optional<PeerHeartbeat> TakeDue(Timestamp now, absl::Duration interval);

 private:
  Timestamp last_heard_;
  Timestamp last_sent_;
  // When the first heartbeat was sent for which no echo has come: on this connection, and on any.
  std::optional<Timestamp> unechoed_since_;
  std::optional<Timestamp> deaf_since_;
  Timestamp echoed_;
  std::optional<PeerHeartbeat::Echo> echo_;  // of its newest heartbeat, until the next one of this node takes it
  bool is_silent_ = false;
  bool is_deaf_ = false;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_HEARTBEATS_H_
