// Forwards chunks for which this node is a relay. What finds no room is answered BUSY: a relay never waits, and the
// chunk's source keeps the bytes. Answers are returned, not sent. Thread-compatible; owned by PeerNetwork.
//
// Invariants:
//   1. A chunk for which there is no room is cut, if it can be, before it is refused.
//   2. Chunks of others take at most `size_bytes` in the queues of all links together, besides what rule 3 lets in.
//   3. One chunk of each neighbour always finds room. Of two relays that forward to each other, each could otherwise be
//      full of what the other has just refused, for ever.
//   4. A source that was refused gets one grant, when the queues are half empty or nothing of the neighbour before it
//      waits. One whose chunk took an auxiliary path gets none: it takes another path at once.
#ifndef BANYAN_NODE_PEERS_RELAY_H_
#define BANYAN_NODE_PEERS_RELAY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "node/peers/chunk_answers.h"
#include "node/peers/neighbour_table.h"
#include "node/step_context.h"
#include "node/trim/trimmer.h"
#include "proto/chunk_message.h"
#include "proto/peer_messages.h"

namespace banyan {

class Relay {
 public:
  struct Limits {
    int64_t size_bytes = 0;     // queued on behalf of others, over all neighbours
    size_t denied_sources = 0;  // remembered for a grant
  };

  // `neighbours` and `trimmer` outlive the relay.
  Relay(Limits limits, NeighbourTable* neighbours, Trimmer* trimmer)
      : limits_(limits), neighbours_(neighbours), trimmer_(trimmer), denied_(limits.denied_sources) {}

  // Hands a chunk that came `from` a neighbour to the link of the next hop. Returns the answer to its source when it
  // does not go on. REQUIRES: this node is the receiver of `message` and not its destination.
  std::optional<Busy> Forward(StepContext& step, NodeId from, ChunkMessage message, Payload payload);
  // Notes that the next hop has the chunk. REQUIRES: Forward put it on its link.
  void OnForwarded(const ChunkMessage& chunk);
  // Gives up a chunk that was taken from the queue of its link. Returns the answer to its source. REQUIRES: as above.
  Busy GiveUp(ChunkMessage chunk);
  // Takes the grants for the sources that find room now.
  std::vector<Grant> TakeGrants();
  // Forgets all chunks and refused sources; for a job that ends with an error.
  void Clear();

  // The bytes of others that wait in the links' queues, or are on their way without a link ack.
  int64_t size_bytes() const;

 private:
  // Returns whether the chunk fits beside those that wait.
  bool HasRoomFor(const ChunkMessage& message, const Payload& payload) const;

  const Limits limits_;
  NeighbourTable* neighbours_;
  Trimmer* trimmer_;
  DeniedSources denied_;
  // Chunks that wait here to be forwarded, or were and have no link ack yet, by the neighbour they came from.
  std::map<NodeId, uint32_t> chunks_from_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_RELAY_H_
