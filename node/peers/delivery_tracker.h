// Keeps the chunks that this node made until their destinations have said that they have them, and says when to send
// which of them again. Receivers tell duplicates apart, so sending too often costs only bandwidth. Thread-compatible;
// owned by PeerNetwork.
//
// Invariants:
//   1. A chunk is kept until its delivery ack comes, its round is dropped, or all are cleared.
//   2. A chunk that is kept is in one of three states:
//      a. At its link: handed to the first link of its path, which has not acknowledged it. The link looks after it and
//         no time runs here.
//      b. Awaited: the first hop has it. It is sent again when its delivery ack is overdue.
//      c. Refused: its destination, or a relay, had no room. It is sent again on a grant. A grant may be lost, so it is
//         sent again without one after a longer wait, which doubles a few times.
//   3. Each chunk that is sent again is the same bytes, and is at its link again.
//   4. The wait for an ack doubles with each time that the chunk is sent again, up to kLongestWait. Chunks after it
//      begin with the longer wait, until one is acknowledged at its first sending (Karn and Partridge, 1987).
#ifndef BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_
#define BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"

namespace banyan {

class DeliveryTracker {
 public:
  struct Undelivered {
    ChunkMessage message;
    Payload payload;
  };

  // The longest wait, however often a chunk was sent again and however slow acks are. Four times the usual
  // membership.lost_after, and longer than the first wait over relays.
  static constexpr absl::Duration kLongestWait = absl::Seconds(20);

  // `resend_after` is the shortest wait for an ack over a direct link.
  explicit DeliveryTracker(absl::Duration resend_after);

  // Keeps the chunk, which is handed to its first link at the same time.
  void Add(const ChunkMessage& message, const Payload& payload);
  // Notes that the first hop has `copy`: from now on its delivery ack is awaited. Does nothing when the chunk itself is
  // on another path than `copy`.
  void OnLinkAck(const ChunkMessage& copy, Timestamp now);
  // Drops a chunk that has arrived. Returns false when it is not kept: acknowledged before, or never sent there.
  bool OnDeliveryAck(NodeId destination, const ChunkId& chunk, Timestamp now);
  // Notes that `refuser`, the destination or a relay on the way, had no room. Does nothing for a chunk that is at its
  // link: the link sends it again.
  void OnBusy(NodeId refuser, const ChunkId& chunk, Timestamp now);
  // Notes that the chunk is on another path now, that of `message`.
  void Reroute(const ChunkMessage& message);
  // Returns the copies of `chunk` that `relay` did not pass on along an auxiliary path, to be sent again now on another
  // path.
  std::vector<Undelivered> TakeAuxiliary(NodeId relay, const ChunkId& chunk);
  // Returns the refused chunks that go to or through `granter`, to be sent again now: those of `chunks`, or all where
  // none are named.
  std::vector<Undelivered> OnGrant(NodeId granter, const std::vector<ChunkId>& chunks = {});
  // Returns the chunks whose ack is overdue, to be sent again now.
  std::vector<Undelivered> TakeOverdue(Timestamp now);
  // Drops the chunks of a round whose results all members hold: nobody needs them any more. Returns which, with their
  // destinations.
  std::vector<std::pair<NodeId, ChunkId>> DropRound(KeyId key, Round round);
  // Drops every chunk; for a job that ends with an error.
  void Clear();

  Timestamp NextDeadline() const;
  size_t size() const { return kept_.size(); }
  int64_t kept_bytes() const { return kept_bytes_; }

 private:
  using Id = std::pair<NodeId, ChunkId>;
  struct Kept {
    Undelivered chunk;
    bool at_link = true;  // as in invariant 2a
    Timestamp link_acked_at;
    Timestamp deadline = kNever;
    uint32_t resends = 0;
  };

  void SetDeadline(const Id& id, Kept& kept, Timestamp deadline);
  // Returns how long the ack of `kept` may take before it is sent again.
  absl::Duration Wait(const Kept& kept) const;
  // Returns the ids of `chunk`, one for each destination, whose paths pass `node`.
  std::vector<Id> IdsThrough(NodeId node, const ChunkId& chunk) const;
  // Marks `kept` as refused.
  void MarkBusy(const Id& id, Kept& kept, Timestamp now);
  // Counts a resend and stops the clock until the next link ack.
  Undelivered Resend(const Id& id, Kept& kept);

  absl::Duration resend_after_;
  uint32_t backoff_ = 0;  // doublings of the wait that the next chunks begin with
  // The slowest recent delivery ack of a chunk that was sent once. So a fast network's losses are noticed soon, and a
  // slow one's queues are not mistaken for losses.
  absl::Duration slowest_ack_ = absl::ZeroDuration();
  std::map<Id, Kept> kept_;
  std::set<std::pair<Timestamp, Id>> deadlines_;
  std::set<Id> busy_;  // refused
  int64_t kept_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_DELIVERY_TRACKER_H_
