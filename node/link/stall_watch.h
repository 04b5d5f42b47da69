// Finds the data connections of one link that have stopped carrying without a word: a NAT has forgotten them, a path
// drops what is large, one direction is gone. All that such a connection shows is that no link ack comes any more.
// Thread-compatible; owned by PeerLink.
//
// Invariants:
// - A connection is waited for from when a chunk is sent on it to which no ack has come; each ack of what it carried
//   starts the wait again.
// - Acks of one connection come in the order of its chunks. So an ack answers all that was sent on it before: an ack
//   that was lost is not waited for.
// - The wait is a few round trips, and kLeastWait to kMostWait of the silence that ends a peer. Each time that a
//   connection was made anew in vain makes it four times longer, for a link that is slower than it looks.
#ifndef BANYAN_NODE_LINK_STALL_WATCH_H_
#define BANYAN_NODE_LINK_STALL_WATCH_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"

namespace banyan {

class StallWatch {
 public:
  static constexpr double kRoundTrips = 3;
  static constexpr double kLeastWait = 0.2;
  static constexpr double kMostWait = 0.5;
  // A link of which no ack came for this part of the silence may be blocked.
  static constexpr double kBlockedAfter = 0.5;
  static constexpr int kMostDoublings = 4;
  // A stalled connection is found again after this part of the silence, if it has not been made anew meanwhile.
  static constexpr double kFoundAgain = 0.05;

  // A peer that is silent for `lost_after` is lost.
  StallWatch(absl::Duration lost_after, const std::vector<ConnectionId>& connections);

  // Notes that a chunk went out on `connection`, under the next link sequence.
  void OnSent(ConnectionId connection, uint64_t link_sequence, Timestamp now);
  // Notes an ack. Returns the connection that has carried its chunk; empty when that is not known any more.
  std::optional<ConnectionId> OnAck(uint64_t link_sequence, Timestamp now);
  // The connection that brings acks is a new one: some may have been lost. Waits are short again.
  void OnAckWayRenewed();
  // Forgets what was on the connection. Returns how long it was waited for if it is stalled, zero otherwise.
  absl::Duration OnConnectionDown(ConnectionId connection, Timestamp now);
  // Forgets all that was sent.
  void Clear();
  // Excuses a `pause` of this process: acks that came meanwhile are still to be read.
  void ExcusePause(absl::Duration pause, Timestamp now);

  // Returns the connections that are stalled, where an ack takes `round_trip` at most, and that were not found lately.
  std::vector<ConnectionId> FindStalled(Timestamp now, absl::Duration round_trip);
  // Returns when FindStalled finds one if no ack comes; kNever when nothing is waited for.
  Timestamp NextDeadline(absl::Duration round_trip) const;
  // What small messages tell: the neighbour has answered one that was sent at `answered`, and since `heard_since` its
  // answers have come on one connection.
  struct SmallMessages {
    Timestamp answered;
    Timestamp heard_since;
  };
  // Returns true, once until the next ack, when small messages pass and chunks do not: none has been acknowledged for
  // long, and one that went out on a new connection was overtaken by a small message that was sent well after it.
  bool BecomesBlocked(Timestamp now, const SmallMessages& small);
  // Returns true from then on until the next ack.
  bool is_blocked() const { return is_blocked_; }
  // Returns how long nothing has been answered.
  absl::Duration Silence(Timestamp now) const;

 private:
  struct Carrier {
    std::deque<uint64_t> unanswered;  // link sequences, rising
    std::optional<Timestamp> waits_since;
    std::optional<Timestamp> found_at;  // stalled, for the last time
    int made_anew = 0;                  // because it was stalled, since the last ack of the link
  };

  std::optional<ConnectionId> CarrierOf(uint64_t link_sequence) const;
  // Returns when `carrier` is found stalled; kNever when it is not waited for.
  Timestamp DueAt(const Carrier& carrier, absl::Duration round_trip) const;

  absl::Duration lost_after_;
  std::map<ConnectionId, Carrier> carriers_;
  std::optional<Timestamp> silent_since_;  // with something to be answered
  bool is_blocked_ = false;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_STALL_WATCH_H_
