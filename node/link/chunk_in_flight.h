// One chunk that leaves this node: what it is, where its link has it, and whether its destination has it. The lists of
// chunks hold pointers to it: LinkChunks those that wait for a link or are in flight there, DeliveryTracker those that
// have not arrived. Each of them says below which members it sets. Thread-compatible; owned by the lists together, and
// dropped with the last of them.
//
// Invariants:
// - Message and payload stay as they were made or came here, but for the route: what the link cuts only counts in
//   `frames`. So a chunk that is sent again because its destination refused it goes whole.
// - It waits in the queue of one link, or is in flight there, or no link has it.
// - The route, and is_auxiliary, change only while no link has it.
// - Of what this node only forwards, of probes, and of what has arrived or is dropped, the delivery is kNobodyWaits.
#ifndef BANYAN_NODE_LINK_CHUNK_IN_FLIGHT_H_
#define BANYAN_NODE_LINK_CHUNK_IN_FLIGHT_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"

namespace banyan {

struct ChunkInFlight {
  // A place in the queue of a link; lower goes first.
  struct Rank {
    bool auxiliary = false;
    bool large = false;
    int64_t negative_priority = 0;
    Round round;
    uint64_t place = 0;
    uint64_t arrival = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  enum class Delivery : uint8_t {
    kNobodyWaits,
    kAtLink,   // handed to the first link of its path, which has not acknowledged it
    kAwaited,  // the first hop has it, and its delivery ack is awaited
    kRefused   // its destination, or a relay, had no room
  };

  ChunkInFlight() = default;
  ChunkInFlight(ChunkMessage header, Payload bytes) : message(std::move(header)), payload(std::move(bytes)) {}

  // True when this node only forwards the chunk.
  bool is_relayed() const { return message.route.hop > 0; }
  // True when no relay is on its path.
  bool is_direct() const { return message.route.path.size() == 2; }
  // Returns the bytes of the frames that the link has not cut.
  int64_t FrameBytes() const;
  // Returns the payload that the link has not cut, and puts its header into `header`.
  Payload CopyTo(ChunkMessage& header) const;

  ChunkMessage message;
  Payload payload;

  // Set by LinkChunks and PeerLink.
  bool resend = false;     // went out before
  int64_t size_bytes = 0;  // on the link
  size_t frames = 0;       // the first of the message's, the others are cut
  Rank rank;

  // Set by DeliveryTracker.
  Delivery delivery = Delivery::kNobodyWaits;
  uint32_t resends = 0;
  Timestamp link_acked_at;
  Timestamp deadline = kNever;

  // Set by AuxiliarySelector: what is counted on its path over relays, 0 for none, and since when.
  int64_t path_bytes = 0;
  Timestamp on_path_since;
};

using ChunkPtr = std::shared_ptr<ChunkInFlight>;

}  // namespace banyan

#endif  // BANYAN_NODE_LINK_CHUNK_IN_FLIGHT_H_
