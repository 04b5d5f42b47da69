// What a node tells the source of a chunk: that it is delivered, that there was no room, that there is room again.
// Answers go back along the part of its route that the chunk has come. DeniedSources is thread-compatible. Relay owns
// one for what it did not forward, PeerNetwork another for what this node did not take.
#ifndef BANYAN_NODE_PEERS_CHUNK_ANSWERS_H_
#define BANYAN_NODE_PEERS_CHUNK_ANSWERS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/ids.h"
#include "proto/chunk_message.h"
#include "proto/peer_messages.h"

namespace banyan {

// Return the answer that the receiver of `chunk` on its present hop sends to the chunk's source.
DeliveryAck DeliveryAckOf(const ChunkMessage& chunk);
Busy BusyOf(const ChunkMessage& chunk);

// The sources that were answered BUSY, with the ways back to them.
//
// Invariants:
//   1. A source is granted room at most once for each chunk of it that was refused.
//   2. At most `limit` sources and kMostChunks chunks are remembered. The others are tried again without a grant.
class DeniedSources {
 public:
  explicit DeniedSources(size_t limit) : limit_(limit) {}

  // Remembers the source of `chunk`, with the way back that the chunk has come.
  void Add(const ChunkMessage& chunk);
  // Takes the grants of those sources for whose first node on the way back `has_room`.
  std::vector<Grant> TakeGrants(absl::FunctionRef<bool(NodeId first)> has_room);
  std::vector<Grant> TakeGrants() {
    return TakeGrants([](NodeId) { return true; });
  }
  // Takes the grant for this one chunk of `source`; nothing when it was not refused, or was granted.
  std::optional<Grant> TakeGrant(NodeId source, const ChunkId& chunk);
  void Clear();
  bool empty() const { return denied_.empty(); }

 private:
  static constexpr size_t kMostChunks = size_t{1} << 16;
  struct Denied {
    SourceRoute way_back;
    std::set<ChunkId> chunks;
  };

  size_t limit_;
  std::map<NodeId, Denied> denied_;  // by source
  size_t chunks_ = 0;                // over all sources
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_CHUNK_ANSWERS_H_
