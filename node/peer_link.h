// The directed link from this node to one neighbour: its connections, the queue of chunks that wait for it, and the
// byte credits of what is on its way. Queue order: tiny chunks, then higher priority, then the order of rounds and of
// chunks in the model, which is the same on all links, so that what others wait for is not behind what has just begun,
// results a little later than gradients (kGradientsBeforeResult); chunks on
// a detour wait until no other does, except that one of them follows every kPrimaryPerAuxiliary others. So detours take
// at most a seventh of what a link's own traffic needs. At most a window is on its way without a link ack, so that
// the order is decided here and not in a socket's buffer.
//
// The connections of a link have its queue in common, and each looks for more than its part of the rate, most of all
// when it goes on after a pause: together they would overflow it. So they share the window's pace, those among them
// that have not sent all of theirs if they have kept their pace.
//
// Chunks on their way are kept until their link ack: a lost connection costs a resend. A connection that recovers from
// a lost packet may stand still for several round trips, and at a round's end everybody would wait for the chunk that
// it carries. So a chunk whose ack is late is hedged (Dean and Barroso, 2013): when nothing else of its round waits for
// the link, or no ack has come meanwhile, a copy goes over a connection that carries nothing. It is late by its time,
// or when one that went out well after it has been acknowledged. Receivers tell copies apart, the first ack counts, and
// a connection that was overtaken gets nothing more until its own ack.
//
// While chunks wait for the link, and enough are on their way, the receiver may acknowledge two at a time.
// Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_PEER_LINK_H_
#define BANYAN_NODE_PEER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "core/action.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link_window.h"
#include "proto/chunk_message.h"

namespace banyan {

class PeerLink {
 public:
  // Small enough that detours never starve, so large that they cost a link's own traffic little: see above.
  static constexpr uint32_t kPrimaryPerAuxiliary = 6;
  // A result goes after the gradients of so many chunks that follow it, if these wait: gradients have the way to the
  // root and back before them. If all went first, links whose results come late, as those of deep trees do, would have
  // nothing to send at first and too much at the end.
  static constexpr uint32_t kGradientsBeforeResult = 40;
  // Several times the slowest round trip between continents: a link that is only slow is not taken for one that is cut.
  static constexpr absl::Duration kStuckAfter = absl::Seconds(1);
  // Of smaller ones headers take so much that a link at its pace looks slower than the rate from which that was taken:
  // the next pace would be lower, and so on.
  static constexpr int64_t kLeastPacedChunkBytes = 4096;
  // Chunks that are on their way before one whose link ack may wait for the next one's.
  static constexpr size_t kAheadOfSharedAck = 2;

  struct Options {
    LinkWindow window;
    absl::Duration resend_after = absl::Seconds(2);
    // A chunk of at most this size goes before larger ones whatever their priority.
    int64_t tiny_bytes = 4096;
  };
  struct Counters {
    uint64_t sent_bytes = 0;  // with headers, resends included
    uint64_t resent_bytes = 0;
    uint64_t auxiliary_bytes = 0;
    uint64_t hedged_bytes = 0;  // of the copies of what was late
    absl::Duration busy;        // with a chunk on its way; without the last moments before a connection was lost
  };
  struct Queued {
    ChunkMessage message;
    Payload payload;
    bool resend = false;
  };

  // `data` are the ids of the connections that carry chunks; all are down at first.
  PeerLink(Options options, std::vector<ConnectionId> data);

  // `resend` when the chunk went out before; it counts as resent.
  void Enqueue(ChunkMessage message, Payload payload, bool resend = false);
  // Takes the first waiting chunk that this node made, that is on no detour and that `wants` takes, if it is among the
  // first few.
  using Wants = std::function<bool(const ChunkMessage&, int64_t size_bytes)>;
  std::optional<Queued> TakeForDetour(const Wants& wants);
  // Takes all chunks on detours that wait.
  std::vector<Queued> TakeAuxiliary();
  // Drops all that waits or is on its way.
  void Clear();
  // Sends what credit and connections allow.
  void Pump(Timestamp now, Actions& actions);
  // Sends copies of what is late. Only when all that has arrived is handled, so that no ack waits unread.
  void Hedge(Timestamp now, Actions& actions);

  // The chunk that was acknowledged; none when `link_sequence` is not on its way: acknowledged before, or never sent.
  std::optional<ChunkMessage> OnLinkAck(uint64_t link_sequence, Timestamp now);
  void OnConnectionUp(ConnectionId connection);
  // What was on its way on the connection goes back to the queue.
  void OnConnectionDown(ConnectionId connection);
  // Puts chunks whose link ack is overdue back into the queue: only acks that were lost with the neighbour's control
  // connection cause that, so the wait is generous and restarts with every ack.
  void ResendOverdue(Timestamp now);
  // Brings counters().busy up to now.
  void CountBusy(Timestamp now);

  // The next Pump heeds it.
  void Resize(const LinkWindow& window) { options_.window = window; }
  bool is_up() const;
  // Nothing gets through: its connections are lost, or not yet there kStuckAfter after the first chunk was to go, or no
  // ack came for kStuckAfter.
  bool IsStuck(Timestamp now) const;
  // A chunk would be sent at once.
  bool HasRoom() const { return queue_.empty() && in_flight_bytes_ < options_.window.size_bytes && is_up(); }

  Timestamp NextDeadline() const;
  // When there is something to hedge, unless acks come before.
  Timestamp NextHedge() const;
  int64_t queued_bytes() const { return queued_bytes_; }
  int64_t in_flight_bytes() const { return in_flight_bytes_; }
  // The part of both that this node only forwards.
  int64_t relayed_bytes() const { return relayed_bytes_; }
  const Counters& counters() const { return counters_; }

 private:
  // Lower goes first.
  struct QueueRank {
    bool auxiliary = false;
    bool large = false;
    int32_t negative_priority = 0;
    Round round;
    uint64_t place = 0;
    uint64_t arrival = 0;
    friend auto operator<=>(const QueueRank&, const QueueRank&) = default;
  };
  struct Waiting {
    ChunkMessage message;
    Payload payload;
    int64_t size_bytes = 0;
    bool resend = false;
  };
  struct InFlight {
    Waiting chunk;
    QueueRank rank;
    ConnectionId connection;
    Timestamp sent_at;
    absl::Duration ack_after = absl::InfiniteDuration();   // by the window
    absl::Duration late_after = absl::InfiniteDuration();  // and by what acks have taken of late
    std::optional<uint64_t> twin = std::nullopt;           // the other copy, of one that is hedged
  };
  // A copy on its way of a chunk whose other copy has arrived.
  struct Settled {
    ConnectionId connection;
    int64_t size_bytes = 0;
    Timestamp sent_at;
  };
  struct DataConnection {
    bool is_idle() const { return up && in_flight_bytes == 0; }

    bool up = false;
    double pace_bps = kUnpaced;  // as the driver was told
    int64_t in_flight_bytes = 0;
    int64_t overtaken = 0;    // copies on its way of chunks that have arrived on another
    double unsent_bytes = 0;  // if it has kept its pace
  };

  std::map<QueueRank, Waiting>::iterator FirstAuxiliary();
  std::map<QueueRank, Waiting>::iterator NextToSend();
  Queued TakeQueued(std::map<QueueRank, Waiting>::iterator entry);
  // Of the first that are up and not overtaken, as many as the window says, the one with the least on its way; else one
  // that is overtaken; null when all are down.
  std::pair<const ConnectionId, DataConnection>* BestConnection();
  // Of the next chunk to go: another one follows soon, and the window does without the ack until then.
  bool AckMayWait(int64_t size_bytes) const;
  void SendQueued(Timestamp now, Actions& actions);
  // Calls `send`, which adds what to send to `actions`, and puts the paces at which it is to go before it.
  void SendPaced(Timestamp now, Actions& actions, absl::FunctionRef<void()> send);
  void CountUnsent(Timestamp now);
  // Tells those with something on its way their part of the pace, where that has changed.
  void SharePace(Actions& actions);
  void SendOne(Timestamp now, std::map<QueueRank, Waiting>::iterator next, ConnectionId connection, Actions& actions);
  void Requeue(std::map<uint64_t, InFlight>::iterator entry);
  void Remove(std::map<uint64_t, InFlight>::iterator entry);
  absl::Duration ResendTimeout() const;

  // Hedges (peer_link_hedges.cc).
  void CountSlowness(absl::Duration took, absl::Duration ack_after);
  // kNever for what is not to be hedged.
  Timestamp HedgeAt(const InFlight& sent) const;
  // One that carries nothing; null when there is none.
  std::pair<const ConnectionId, DataConnection>* IdleConnection();
  void SendCopy(Timestamp now, InFlight& late, std::pair<const ConnectionId, DataConnection>& connection,
                Actions& actions);
  // The other copy of what has arrived frees its credit; its connection has it until its own ack.
  void Settle(uint64_t link_sequence);
  void ForgetSettled(absl::FunctionRef<bool(uint64_t link_sequence, const Settled&)> is_over);

  Options options_;
  std::map<ConnectionId, DataConnection> connections_;
  int64_t carriers_ = 1;  // connections that have something unsent, at least 1
  Timestamp unsent_counted_at_;
  bool was_up_ = false;                   // ever
  std::optional<Timestamp> waits_since_;  // for the first connection
  std::map<QueueRank, Waiting> queue_;
  std::map<uint64_t, InFlight> in_flight_;  // by link_sequence
  std::map<uint64_t, Settled> settled_;     // likewise
  double slowness_ = 1;  // what acks take of what they should, in the mean of the last few; at least 1
  int64_t queued_bytes_ = 0;
  int64_t in_flight_bytes_ = 0;
  int64_t relayed_bytes_ = 0;
  uint64_t next_arrival_ = 0;
  uint32_t primary_in_a_row_ = 0;
  uint64_t next_sequence_ = 1;
  // The slowest recent link ack, and when the last one came.
  absl::Duration slowest_ack_ = absl::ZeroDuration();
  Timestamp last_ack_;
  Timestamp newest_acked_;  // when the last one went out of those that have been acknowledged
  int timeouts_in_a_row_ = 0;
  Timestamp busy_counted_at_;
  Counters counters_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEER_LINK_H_
