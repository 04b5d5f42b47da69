// The directed link from this node to one neighbour: sends its LinkChunks, as its window allows. A Pacer says how fast
// chunks go, a Hedger which go twice, a ResendTimer when they go again, a StallWatch which connections carry nothing
// any more. Thread-compatible; owned by PeerNetwork.
//
// Invariants:
// - A chunk is in the queue or in flight from Enqueue until its first link ack, unless it is taken or Clear drops it.
// - Pump lets no more bytes in flight than the window holds, but always one chunk: so the queue decides the order and
//   not a socket's buffer. Copies of late chunks come on top.
// - A chunk whose connection is lost, or whose ack is overdue, is back at its old place in the queue.
// - Every chunk that is sent is paced, if the window has a pace and chunks are not too small for it.
#ifndef BANYAN_NODE_LINK_PEER_LINK_H_
#define BANYAN_NODE_LINK_PEER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/hedger.h"
#include "node/link/link_chunks.h"
#include "node/link/link_window.h"
#include "node/link/pacer.h"
#include "node/link/resend_timer.h"
#include "node/link/stall_watch.h"
#include "node/trim/trimmer.h"
#include "proto/chunk_message.h"
#include "proto/scheduler_messages.h"
#include "protocol/action.h"

namespace banyan {

class PeerLink {
 public:
  // Several times the slowest round trip between continents: a link that is only slow is not taken for one that is cut.
  static constexpr absl::Duration kStuckAfter = absl::Seconds(1);
  // The receiver may hold back the ack of a chunk that finds so many in flight: they keep the link busy meanwhile.
  static constexpr size_t kAheadOfSharedAck = 2;

  struct Options {
    LinkWindow window;
    absl::Duration resend_after = absl::Seconds(2);
    absl::Duration lost_after = absl::Seconds(5);  // a silence that ends a peer
    // A chunk of at most this size goes before larger ones whatever their priority.
    int64_t tiny_bytes = 4096;
    // Above those of a former link to the same node, whose last acks may still come.
    uint64_t first_sequence = 1;
    // Cuts chunks that leave the queue; outlives the link. Null: none is cut.
    const Trimmer* trimmer = nullptr;
  };
  // What is reported of the link, and what is not.
  struct Counters : LinkCounters {
    uint64_t hedged_bytes = 0;  // of the copies of late chunks
    uint64_t result_bytes = 0;  // of results in levels
    uint64_t excess_bytes = 0;  // of these, what the link did not carry in time
    absl::Duration busy;        // with a chunk in flight; without the last moments before a connection was lost
  };
  using Sent = LinkChunks::Sent;
  using Wants = LinkChunks::Wants;

  // `data` are the ids of the connections that carry chunks; all are down at first.
  PeerLink(Options options, const std::vector<ConnectionId>& data);

  // Adds a chunk to the queue; `resend` when it went out before, so that it counts as resent. REQUIRES: no link has it.
  void Enqueue(ChunkPtr chunk, bool resend) { chunks_.Enqueue(std::move(chunk), resend); }
  // Adds a chunk for whose delivery nobody here waits.
  void Enqueue(ChunkMessage message, Payload payload);
  // Takes the first of the next chunks that may go on an auxiliary path and that `wants` accepts; null when there is
  // none.
  ChunkPtr TakeForAuxiliaryPath(Wants wants) { return chunks_.TakeForAuxiliary(wants); }
  // Takes all chunks that wait and are on auxiliary paths.
  std::vector<ChunkPtr> TakeAuxiliary() { return chunks_.TakeAuxiliary(); }
  // Drops all chunks, those in flight too.
  void Clear();
  // Sends what window and connections allow.
  void Pump(Timestamp now, Actions& actions);
  // Sends copies of late chunks over idle connections. Call it only when all that has arrived is handled, so that no
  // ack waits unread.
  void Hedge(Timestamp now, Actions& actions);

  // Returns the copy that was acknowledged. Empty when `link_sequence` is not in flight: acknowledged before, given up
  // or never sent.
  std::optional<Sent> OnLinkAck(uint64_t link_sequence, Timestamp now);
  // Marks `connection` as up. Ids that are not of this link are ignored, here and below.
  void OnConnectionUp(ConnectionId connection) { chunks_.OnConnectionUp(connection); }
  // Puts what was in flight on `connection` back into the queue. Returns how long nothing on it was answered if it was
  // stalled, zero otherwise.
  absl::Duration OnConnectionDown(ConnectionId connection, Timestamp now);
  // Puts chunks whose link ack is overdue back into the queue.
  void ResendOverdue(Timestamp now);
  // Returns the connections on which nothing is answered any more, although the link is not that slow. Chunks take
  // others from then on; whoever owns the link has these made anew.
  std::vector<ConnectionId> FindStalled(Timestamp now);
  // Returns when FindStalled finds one, unless acks come before.
  Timestamp NextStall() const { return stall_watch_.NextDeadline(RoundTrip()); }
  // Returns true, once until the next ack, when `small` messages pass and chunks do not.
  bool BecomesBlocked(Timestamp now, const StallWatch::SmallMessages& small) {
    return stall_watch_.BecomesBlocked(now, small);
  }
  // Acks come on a new connection, and some may have been lost.
  void OnAckWayRenewed() { stall_watch_.OnAckWayRenewed(); }
  const StallWatch& stall_watch() const { return stall_watch_; }
  // Excuses a `pause` of this process.
  void ExcusePause(absl::Duration pause, Timestamp now) { stall_watch_.ExcusePause(pause, now); }
  // Brings counters().busy up to `now`.
  void CountBusy(Timestamp now);

  // Sets the window from the next Pump on.
  void Resize(const LinkWindow& window) { options_.window = window; }
  bool is_up() const { return chunks_.connections().is_up(); }
  // Returns true when nothing gets through: the connections are lost, or not there kStuckAfter after the first chunk
  // was to go, or no ack came for kStuckAfter.
  bool IsStuck(Timestamp now) const;
  // Returns true when a chunk would be sent at once.
  bool HasRoom() const {
    return !chunks_.has_queued() && chunks_.in_flight_bytes() < options_.window.size_bytes && is_up();
  }

  // Returns when ResendOverdue has something to do; kNever when nothing is in flight.
  Timestamp NextDeadline() const;
  // Returns when Hedge has something to do, unless acks come before; kNever when nothing can be hedged.
  Timestamp NextHedge() const { return hedger_.NextHedge(chunks_, resend_timer_); }
  int64_t queued_bytes() const { return chunks_.queued_bytes(); }
  int64_t in_flight_bytes() const { return chunks_.in_flight_bytes(); }
  // Returns the part of both that this node only forwards.
  int64_t relayed_bytes() const { return chunks_.relayed_bytes(); }
  uint64_t next_sequence() const { return chunks_.next_sequence(); }
  const Counters& counters() const { return counters_; }
  // For what is counted outside.
  LinkCounters& reported() { return counters_; }

 private:
  void SendQueued(Timestamp now, Actions& actions);
  void SendNext(Timestamp now, ConnectionId connection, Actions& actions);
  // Cuts a chunk that has left the queue, of which `message` and `payload` are to go, as the trimmer says.
  void Cut(Timestamp now, ChunkInFlight& chunk, ChunkMessage& message, Payload& payload);
  // Counts a result in levels, and what of it is too much.
  void CountResult(Timestamp now, const ChunkInFlight& chunk);
  void SendCopies(Timestamp now, Actions& actions);
  // Hands a copy that has just gone into flight to its connection.
  void HandOver(const Sent& sent, ChunkMessage message, Payload payload, Actions& actions);
  // Returns the time until the ack of `size_bytes` more in flight is expected.
  absl::Duration AckAfter(int64_t size_bytes) const { return options_.window.AckAfter(in_flight_bytes() + size_bytes); }
  // Returns how long acks take at most.
  absl::Duration RoundTrip() const;
  // Returns true when the ack of the next chunk may come with a later one's: another one follows soon, and the window
  // does without the ack until then.
  bool AckMayWait(int64_t size_bytes) const;

  Options options_;
  LinkChunks chunks_;
  Pacer pacer_;
  Hedger hedger_;
  ResendTimer resend_timer_;
  StallWatch stall_watch_;
  std::optional<Timestamp> waits_since_;  // for the first connection, with a chunk to send
  Timestamp busy_counted_at_;
  Counters counters_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_PEER_LINK_H_
