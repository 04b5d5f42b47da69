// The header of a chunk on the wire; its payload travels beside it as frames of its own. Values; thread-compatible.
#ifndef BANYAN_PROTO_CHUNK_MESSAGE_H_
#define BANYAN_PROTO_CHUNK_MESSAGE_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/compression/codec_id.h"
#include "proto/fields.h"
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

template <typename Visitor>
void Fields(Visitor& v, ChunkId& m) {
  v(1, "epoch", m.epoch);
  v(2, "attempt", m.attempt);
  v(3, "round", m.round);
  v(4, "key", m.key);
  v(5, "chunk", m.chunk);
  v(6, "half", m.half, UpTo{kLastHalf});
  // A piece of a training state has no key.
  v.Check([&m](FieldReader& fields) {
    if (m.half != Half::kState) fields.NonZero<KeyId>("key", m.key.value());
  });
}

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

template <typename Visitor>
void Fields(Visitor& v, SourceRoute& m) {
  PathField(v, 1, m.path);
  v(2, "hop", m.hop);
  v.Check([&m](FieldReader& fields) {
    // A path of the wrong length has been refused already.
    if (m.path.size() < 2) return;
    m.hop = fields.Between("hop", m.hop, 0u, static_cast<uint32_t>(m.path.size()) - 2);
  });
}

// Returns whether a node is in the path twice.
bool HasRepetition(const std::vector<NodeId>& path);

// The nodes of a path with both ends: at least two, none twice.
template <typename Visitor>
void PathField(Visitor& v, int number, std::vector<NodeId>& path) {
  v(number, "path", path, Entries{2, v.limits().max_path_nodes}, kNonZero);
  v.Check(
      [&path](FieldReader& fields) { fields.Expect(!HasRepetition(path), "path", "each node once", "a node twice"); });
}

// So many last frames of a node's contribution were cut on its way before it was taken.
struct Cut {
  NodeId node;
  uint32_t frames = 0;

  friend bool operator==(const Cut&, const Cut&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, Cut& m) {
  v(1, "node", m.node, kNonZero);
  v(2, "frames", m.frames, Range{1u, static_cast<uint32_t>(v.limits().max_frames)});
}

// What a CodecId can hold.
inline constexpr auto kLastWireCodec =
    static_cast<CodecId>(std::numeric_limits<std::underlying_type_t<CodecId>>::max());
// No codec has more.
inline constexpr uint32_t kMostFrameLevels = 32;
// A peer that asks for less asks for nothing.
inline constexpr double kLeastResultRatio = 1e-9;

// One payload frame; frames are ordered by importance. An element of a training state is a byte, without a codec.
struct FrameHeader {
  CodecId codec = CodecId::kFp32;
  int64_t first_element = 0;  // within the chunk
  int64_t elements = 0;
  int64_t size_bytes = 0;
  int level = 0;  // of its range; 0 where the codec has one

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

template <typename Visitor>
void Fields(Visitor& v, FrameHeader& m) {
  // A codec that this version does not know is for the destination to refuse, which can say of whom and of which round.
  v(1, "codec", m.codec, UpTo{kLastWireCodec});
  v(2, "first_element", m.first_element);
  v(3, "elements", m.elements);
  v(4, "size_bytes", m.size_bytes);
  v(5, "level", m.level, Range{0u, kMostFrameLevels - 1});
}

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

// Refuses what is empty and may not be: a contribution is empty of a member that had nothing to add, and a result of a
// round in which no member had anything.
void CheckEmptiness(const ChunkMessage& chunk, FieldReader& fields);
// Refuses frames that are not what came beside the header.
void CheckFrames(const ChunkMessage& chunk, const Payload& payload, FieldReader& fields);

template <typename Visitor>
void Fields(Visitor& v, ChunkMessage& m) {
  const auto most_frames = static_cast<uint32_t>(v.limits().max_frames);
  v(1, "id", m.id);
  v(2, "policy", m.policy, kNonZero);
  v(3, "tree", m.tree);
  v(4, "kind", m.kind, UpTo{kLastRoundKind});
  v(5, "source_incarnation", m.source_incarnation, kNonZero);
  v(6, "route", m.route);
  v(7, "is_auxiliary", m.is_auxiliary);
  v(8, "weight", m.weight);
  v(9, "priority", ZigZag(m.priority));
  v(10, "elements", m.elements, Range{int64_t{1}, v.limits().max_chunk_elements});
  v(11, "frames", m.frames, Entries{0, v.limits().max_frames});
  v(12, "link_sequence", m.link_sequence);
  v(13, "sent_at", m.sent_at);
  ShareField(v, 14, "result_ratio", m.result_ratio, kLeastResultRatio);
  v(15, "ack_may_wait", m.ack_may_wait);
  v(16, "place", m.place);
  v(17, "made_in", m.made_in);
  v(18, "cut_frames", m.cut_frames, Range{0u, most_frames});
  v(19, "cuts", m.cuts, Entries{0, v.limits().max_path_nodes});
  v(20, "precision", m.precision, UpTo{kLastPrecisionRoute});
  v.Check([&m](FieldReader& fields) { CheckEmptiness(m, fields); });
}

}  // namespace banyan

#endif  // BANYAN_PROTO_CHUNK_MESSAGE_H_
