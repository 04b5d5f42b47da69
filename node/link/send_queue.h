// The chunks that wait for one link, in the order in which they are to go: tiny chunks first, and those that were
// cut on their way, then by priority, round and place in the model. That order is the same on all links, so that nobody
// waits for a chunk that stands behind one which has just begun. A result counts as kGradientsBeforeResult places
// later. Chunks on an auxiliary path go last, but one of them follows every kPrimaryPerAuxiliary others.
// Thread-compatible; owned by PeerLink.
//
// Invariants:
// - No two chunks have the same rank; of chunks that are otherwise equal the one that came first goes first.
// - size_bytes() and relayed_bytes() are sums over the chunks that wait.
// - A chunk that Return brings back stands where it stood.
#ifndef BANYAN_NODE_LINK_SEND_QUEUE_H_
#define BANYAN_NODE_LINK_SEND_QUEUE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "proto/chunk_message.h"

namespace banyan {

class SendQueue {
 public:
  // Small enough that auxiliary paths never starve, and so large that they take at most a seventh of what a link's own
  // chunks need.
  static constexpr uint32_t kPrimaryPerAuxiliary = 6;
  // Gradients have the way to the root and back before them, results only the way back. But not all gradients go first:
  // in deep trees results come late, and a link would have nothing to send at first and too much at the end.
  static constexpr uint32_t kGradientsBeforeResult = 40;
  // TakeForAuxiliary looks at so many chunks from the head: enough to find one, and cheap in a long queue.
  static constexpr int kAuxiliaryLookahead = 16;

  // A place in the queue; lower goes first.
  struct Rank {
    bool auxiliary = false;
    bool large = false;
    int64_t negative_priority = 0;
    Round round;
    uint64_t place = 0;
    uint64_t arrival = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct Chunk {
    // True when this node only forwards the chunk.
    bool is_relayed() const { return message.route.hop > 0; }

    ChunkMessage message;
    Payload payload;
    bool resend = false;     // went out before
    int64_t size_bytes = 0;  // on the link; set by Enqueue
    Rank rank;               // set by Enqueue
  };
  using Wants = absl::FunctionRef<bool(const Chunk& chunk)>;

  // A chunk of at most `tiny_bytes` goes before larger ones whatever their priority.
  explicit SendQueue(int64_t tiny_bytes) : tiny_bytes_(tiny_bytes) {}

  // Adds a chunk; `resend` when it went out before.
  void Enqueue(ChunkMessage message, Payload payload, bool resend);
  // Brings back a chunk that was taken from this queue.
  void Return(Chunk chunk);
  // Returns the chunk that TakeNext takes. REQUIRES: !empty(). Valid until the queue changes.
  const Chunk& Next() const;
  // Takes the chunk that is to be sent now. REQUIRES: !empty().
  Chunk TakeNext();
  // Takes, for an auxiliary path, the first chunk that `wants` accepts. Looks only at chunks near the head that this
  // node made and that are on no auxiliary path yet. Empty when there is none.
  std::optional<Chunk> TakeForAuxiliary(Wants wants);
  // Takes all chunks that are on auxiliary paths, in order.
  std::vector<Chunk> TakeAuxiliary();
  // Drops all chunks.
  void Clear();

  bool empty() const { return chunks_.empty(); }
  // Returns the round of the chunk at the head; empty when none waits.
  std::optional<Round> head_round() const;
  int64_t size_bytes() const { return size_bytes_; }
  // Returns the part of size_bytes() that this node only forwards.
  int64_t relayed_bytes() const { return relayed_bytes_; }

 private:
  using Chunks = std::map<Rank, Chunk>;

  Chunks::const_iterator FirstAuxiliary() const;
  Chunks::const_iterator NextToSend() const;
  Chunk Take(Chunks::const_iterator entry);

  int64_t tiny_bytes_;
  Chunks chunks_;
  int64_t size_bytes_ = 0;
  int64_t relayed_bytes_ = 0;
  uint64_t next_arrival_ = 0;
  uint32_t primary_in_a_row_ = 0;  // taken by TakeNext since the last one on an auxiliary path
};

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_SEND_QUEUE_H_
