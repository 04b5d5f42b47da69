// Chunks that this node made and that their destination has not yet said to have. Each is kept until its delivery ack,
// and sent again, the same bytes, when the ack is overdue or when the destination refused it for lack of room and
// grants it now. Until the first hop has acknowledged it, the link looks after it and no time runs here. Receivers tell
// duplicates apart, so sending too often costs only bandwidth. Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_DELIVERY_TRACKER_H_
#define BANYAN_NODE_DELIVERY_TRACKER_H_

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

  // However often a chunk was sent again, and however slow acks are: four times the usual membership.lost_after, and
  // longer than the first wait over relays.
  static constexpr absl::Duration kLongestWait = absl::Seconds(20);

  explicit DeliveryTracker(absl::Duration resend_after);

  // Keeps the chunk, which is handed to its first link at the same time.
  void Add(const ChunkMessage& message, const Payload& payload);
  // The first hop of its route has the chunk: from now on its delivery ack is awaited. Says nothing of a chunk that is
  // on another path than this copy of it.
  void OnLinkAck(const ChunkMessage& copy, Timestamp now);
  // False when the chunk is not kept: acknowledged before, or never sent there.
  bool OnDeliveryAck(NodeId destination, const ChunkId& chunk, Timestamp now);
  // `refuser`, the destination or a relay on the way, had no room. Means nothing before the link ack: the link sends
  // the chunk again.
  void OnBusy(NodeId refuser, const ChunkId& chunk, Timestamp now);
  // The chunk is on another path now: that of `message`.
  void Reroute(const ChunkMessage& message);
  // The copies of `chunk` that `relay` has refused to pass on along a detour, to be sent again now on another path.
  std::vector<Undelivered> TakeDetoured(NodeId relay, const ChunkId& chunk);
  // The refused chunks that go to or through `granter`, to be sent again now.
  std::vector<Undelivered> OnGrant(NodeId granter);
  // The chunks whose ack is overdue, to be sent again now. The wait of each doubles, up to kLongestWait, and that of
  // chunks after it too until one is acknowledged at its first sending (Karn and Partridge, 1987).
  std::vector<Undelivered> TakeOverdue(Timestamp now);
  // Drops the chunks of a round whose results all members hold: nobody needs them any more. Tells which, with their
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
    bool at_link = true;  // handed to the link and not acknowledged there
    Timestamp link_acked_at;
    Timestamp deadline = kNever;
    uint32_t resends = 0;
  };

  void SetDeadline(const Id& id, Kept& kept, Timestamp deadline);
  absl::Duration Wait(const Kept& kept) const;
  // The ids of the chunk by destination, of those whose path passes `node`.
  std::vector<Id> IdsThrough(NodeId node, const ChunkId& chunk) const;
  void MarkBusy(const Id& id, Kept& kept, Timestamp now);
  // Counts a resend and stops the clock until the next link ack.
  Undelivered Resend(const Id& id, Kept& kept);

  absl::Duration resend_after_;
  // Doublings of the wait that the next chunks begin with.
  uint32_t backoff_ = 0;
  // The slowest recent delivery ack of a chunk that was sent once: a fast network's losses are noticed soon, a slow
  // one's queues are not mistaken for losses.
  absl::Duration slowest_ack_ = absl::ZeroDuration();
  std::map<Id, Kept> kept_;
  std::set<std::pair<Timestamp, Id>> deadlines_;
  std::set<Id> busy_;
  int64_t kept_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_DELIVERY_TRACKER_H_
