// The header of a chunk on the wire; its payload travels beside it as frames of its own. Values; thread-compatible.
#ifndef BANYAN_PROTO_CHUNK_MESSAGE_H_
#define BANYAN_PROTO_CHUNK_MESSAGE_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "core/time.h"
#include "proto/compression/codec_id.h"
#include "proto/half.h"
#include "proto/precision/key_routes.h"

namespace banyan {

// How the contributions of a round become its result.
enum class RoundKind : uint8_t {
  kAggregate,  // their sum, or their mean where the job averages or has a server-side optimizer
  kBroadcast,  // the one contribution that is not empty, unchanged; round 0 (Init) and Broadcast
  kFlush,      // as kAggregate, but lossless, and with all that compression has kept back in earlier rounds
  kAbstention  // an empty contribution of a member that takes part in whatever the others do, or the result of such
};
// The greatest of them.
inline constexpr RoundKind kLastRoundKind = RoundKind::kAbstention;

// Returns the name of `kind` for messages: "aggregation", "broadcast", "flush" or "abstention".
inline constexpr const char* NameOf(RoundKind kind) {
  switch (kind) {
    case RoundKind::kAggregate:
      return "aggregation";
    case RoundKind::kBroadcast:
      return "broadcast";
    case RoundKind::kFlush:
      return "flush";
    case RoundKind::kAbstention:
      break;
  }
  return "abstention";
}

// One piece of one tensor in one round. Round and attempt tell apart everything that may be on its way at the same
// time. A piece of a training state has no key; its round is the number of the transfer.
struct ChunkId {
  Epoch epoch;
  Attempt attempt;
  Round round;
  KeyId key;
  ChunkIndex chunk;
  Half half = Half::kReduce;

  friend auto operator<=>(const ChunkId&, const ChunkId&) = default;
};

// The route of a message over one or more links. The node path.front() made the message, path.back() consumes it, and
// those in between only forward it. The node path[hop] sent it on the link where it is now.
struct SourceRoute {
  std::vector<NodeId> path;
  uint32_t hop = 0;

  NodeId source() const { return path.front(); }
  NodeId destination() const { return path.back(); }
  NodeId sender() const { return path[hop]; }
  NodeId receiver() const { return path[hop + 1]; }

  friend bool operator==(const SourceRoute&, const SourceRoute&) = default;
};

// So many last frames of a node's contribution were cut on its way before it was taken.
struct Cut {
  NodeId node;
  uint32_t frames = 0;

  friend bool operator==(const Cut&, const Cut&) = default;
};

// One payload frame; frames are ordered by importance. An element of a training state is a byte, without a codec.
struct FrameHeader {
  CodecId codec = CodecId::kFp32;
  int64_t first_element = 0;  // within the chunk
  int64_t elements = 0;
  int64_t size_bytes = 0;
  int level = 0;  // of its range; 0 where the codec has one

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

struct ChunkMessage {
  ChunkId id;
  PolicyVersion policy;
  TreeIndex tree;
  RoundKind kind = RoundKind::kAggregate;
  Incarnation source_incarnation;  // of route.source()
  SourceRoute route;
  bool is_auxiliary = false;
  // Of a result: the epoch in which its root made it; it then travels in either half. 0 in a contribution.
  Epoch made_in;
  // Workers whose gradients are in the payload. 0, exactly where there are no frames: an abstention, or the sum of a
  // subtree in which all abstain.
  uint32_t weight = 0;
  int32_t priority = 0;
  int64_t elements = 0;  // of the whole chunk
  uint32_t place = 0;    // how many chunks of the model come before it
  std::vector<FrameHeader> frames;
  // How many last frames were cut on the way so far. Only of contributions to a sum whose codec allows it.
  uint32_t cut_frames = 0;
  // What was cut of the contributions that are in this one, or in the result: each node learns with the result what of
  // its own is missing there.
  std::vector<Cut> cuts;
  // Set in a contribution whose result is to be sparse: the share of the result's elements that the slowest link can
  // carry. Only links count on which the nodes whose contributions are in this one pass the result on. In (0, 1].
  double result_ratio = 1;
  PrecisionRoute precision = PrecisionRoute::kPlain;  // of the key in this round
  // Written anew by the sender of each hop.
  uint64_t link_sequence = 0;  // rises per directed link; names the chunk in the link ack
  Timestamp sent_at;           // sender's clock, when it left its queue
  bool ack_may_wait = false;   // for the link ack of the chunk that follows on this link (node/link/link_ack_buffer.h)

  friend bool operator==(const ChunkMessage&, const ChunkMessage&) = default;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_CHUNK_MESSAGE_H_
