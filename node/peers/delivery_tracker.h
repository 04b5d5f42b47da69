// Keeps the chunks that this node made until their destinations have said that they have them, and says when to send
// which of them again. Receivers tell duplicates apart, so sending too often costs only bandwidth. Thread-compatible;
// owned by ChunkSender.
//
// Invariants:
//   1. A chunk is kept until its delivery ack comes, its round is dropped, or all are cleared. Until then its delivery
//      is one of these:
//      a. kAtLink: the link looks after it and no time runs here.
//      b. kAwaited: it is sent again when its delivery ack is overdue.
//      c. kRefused: it is sent again on a grant. A grant may be lost, so it is sent again without one after a longer
//         wait, which doubles a few times.
//   2. What is to be sent again is kAtLink again.
//   3. The wait for an ack doubles with each time that the chunk is sent again, up to kLongestWait. Chunks after it
//      begin with the longer wait, until one is acknowledged at its first sending (Karn and Partridge, 1987).
#ifndef BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_
#define BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/chunk_in_flight.h"
#include "proto/chunk_message.h"

namespace banyan {

class DeliveryTracker {
 public:
  // The longest wait, however often a chunk was sent again and however slow acks are. Four times the usual
  // membership.lost_after, and longer than the first wait over relays.
  static constexpr absl::Duration kLongestWait = absl::Seconds(20);

  // `resend_after` is the shortest wait for an ack over a direct link.
  explicit DeliveryTracker(absl::Duration resend_after);

  // Keeps the chunk, which is handed to its first link at the same time. Does nothing when the same one is kept
  // already.
  void Add(const ChunkPtr& chunk);
  // Notes that the first hop has the chunk: from now on its delivery ack is awaited.
  void OnLinkAck(ChunkInFlight& chunk, Timestamp now);
  // Drops a chunk that has arrived, and returns it. Null when it is not kept: acknowledged before, or never sent there.
  ChunkPtr OnDeliveryAck(NodeId destination, const ChunkId& chunk, Timestamp now);
  // Notes that `refuser`, the destination or a relay on the way, had no room. Does nothing for a chunk that is at its
  // link: the link sends it again.
  void OnBusy(NodeId refuser, const ChunkId& chunk, Timestamp now);
  // Returns the copies of `chunk` that `relay` did not pass on along an auxiliary path, to be sent again now on another
  // path.
  std::vector<ChunkPtr> TakeAuxiliary(NodeId relay, const ChunkId& chunk);
  // Returns the refused chunks that go to or through `granter`, to be sent again now: those of `chunks`, or all where
  // none are named.
  std::vector<ChunkPtr> OnGrant(NodeId granter, const std::vector<ChunkId>& chunks = {});
  // Returns the chunks whose ack is overdue, to be sent again now.
  std::vector<ChunkPtr> TakeOverdue(Timestamp now);
  // Drops the chunks of a round whose results all members hold, and returns them: nobody needs them any more.
  std::vector<ChunkPtr> DropRound(KeyId key, Round round);
  // Drops every chunk; for a job that ends with an error.
  void Clear();

  Timestamp NextDeadline() const;
  size_t size() const { return kept_.size(); }
  int64_t kept_bytes() const { return kept_bytes_; }

 private:
  using Id = std::pair<NodeId, ChunkId>;
  using Kept = std::map<Id, ChunkPtr>;

  static Id IdOf(const ChunkInFlight& chunk) { return {chunk.message.route.destination(), chunk.message.id}; }
  void SetDeadline(ChunkInFlight& chunk, Timestamp deadline);
  // Returns how long the ack of `chunk` may take before it is sent again.
  absl::Duration Wait(const ChunkInFlight& chunk) const;
  // Returns those with the id `chunk`, one for each destination, whose paths pass `node`.
  std::vector<ChunkPtr> Through(NodeId node, const ChunkId& chunk) const;
  // Hands the chunk to its link again.
  void Resend(ChunkInFlight& chunk);
  // Keeps a chunk no more, and returns it.
  ChunkPtr Drop(Kept::iterator entry);

  absl::Duration resend_after_;
  uint32_t backoff_ = 0;  // doublings of the wait that the next chunks begin with
  // The slowest recent delivery ack of a chunk that was sent once. So a fast network's losses are noticed soon, and a
  // slow one's queues are not mistaken for losses.
  absl::Duration slowest_ack_ = absl::ZeroDuration();
  Kept kept_;
  std::set<std::pair<Timestamp, Id>> deadlines_;
  std::set<Id> refused_;
  int64_t kept_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_
