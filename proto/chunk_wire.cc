#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "proto/message_wire.h"

namespace banyan {
namespace {

static_assert(static_cast<int>(Half::kReduce) == wire::HALF_REDUCE);
static_assert(static_cast<int>(Half::kBroadcast) == wire::HALF_BROADCAST);
static_assert(static_cast<int>(Half::kState) == wire::HALF_STATE);
static_assert(static_cast<int>(RoundKind::kAggregate) == wire::ROUND_KIND_AGGREGATE);
static_assert(static_cast<int>(RoundKind::kBroadcast) == wire::ROUND_KIND_BROADCAST);
static_assert(static_cast<int>(RoundKind::kFlush) == wire::ROUND_KIND_FLUSH);
static_assert(static_cast<int>(RoundKind::kAbstention) == wire::ROUND_KIND_ABSTENTION);
static_assert(static_cast<int>(CodecId::kFp32) == wire::CODEC_ID_FP32);
static_assert(static_cast<int>(CodecId::kFp16) == wire::CODEC_ID_FP16);
static_assert(static_cast<int>(CodecId::kBf16) == wire::CODEC_ID_BF16);
static_assert(static_cast<int>(CodecId::kTopK) == wire::CODEC_ID_TOP_K);
static_assert(static_cast<int>(CodecId::kRandomK) == wire::CODEC_ID_RANDOM_K);
static_assert(static_cast<int>(CodecId::kInt8) == wire::CODEC_ID_INT8);
static_assert(static_cast<int>(CodecId::kInt4) == wire::CODEC_ID_INT4);
static_assert(static_cast<int>(CodecId::kSign) == wire::CODEC_ID_SIGN);
static_assert(static_cast<int>(CodecId::kTernary) == wire::CODEC_ID_TERNARY);
static_assert(static_cast<int>(CodecId::kOneBitRht) == wire::CODEC_ID_ONE_BIT_RHT);
static_assert(static_cast<int>(CodecId::kTrimSign) == wire::CODEC_ID_TRIM_SIGN);
static_assert(static_cast<int>(CodecId::kTrimTopK) == wire::CODEC_ID_TRIM_TOP_K);
static_assert(static_cast<int>(CodecId::kVoteDecision) == wire::CODEC_ID_VOTE_DECISION);
static_assert(static_cast<int>(CodecId::kInt64) == wire::CODEC_ID_INT64);
static_assert(static_cast<int>(PrecisionRoute::kLowBit) == wire::PRECISION_ROUTE_LOW_BIT);

// No codec has more.
constexpr uint32_t kMostFrameLevels = 32;

// What a CodecId can hold.
constexpr auto kLastWireCodec = static_cast<CodecId>(std::numeric_limits<std::underlying_type_t<CodecId>>::max());
// A peer that asks for less asks for nothing.
constexpr double kLeastResultRatio = 1e-9;

bool HasRepetition(const std::vector<NodeId>& path) {
  absl::InlinedVector<NodeId, 16> sorted(path.begin(), path.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void WriteFrame(const FrameHeader& from, wire::FrameHeader& to) {
  to.set_codec(static_cast<wire::CodecId>(from.codec));
  to.set_first_element(from.first_element);
  to.set_elements(from.elements);
  to.set_size_bytes(from.size_bytes);
  to.set_level(static_cast<uint32_t>(from.level));
}

FrameHeader ReadFrame(const wire::FrameHeader& from, Half half, int64_t chunk_elements, int64_t arrived_bytes,
                      FieldReader fields) {
  FrameHeader frame;
  // One that this version does not know is for the destination to refuse, which can say of whom and of which round.
  frame.codec = fields.OneOf("codec", from.codec(), kLastWireCodec);
  frame.first_element = fields.Between("first_element", from.first_element(), int64_t{0}, chunk_elements - 1);
  frame.elements = fields.Between("elements", from.elements(), int64_t{1}, chunk_elements - frame.first_element);
  frame.size_bytes = from.size_bytes();
  frame.level = static_cast<int>(fields.Between("level", from.level(), uint32_t{0}, kMostFrameLevels - 1));
  const int64_t width = half == Half::kState ? 1 : 4;
  const bool is_plain = half == Half::kState || frame.codec == CodecId::kFp32;
  if (is_plain && frame.size_bytes != width * frame.elements) {
    fields.Refuse("size_bytes", absl::StrCat(width, " bytes for each of ", frame.elements, " elements"),
                  absl::StrCat(frame.size_bytes));
  }
  if (frame.size_bytes != arrived_bytes) {
    fields.Refuse("size_bytes", absl::StrCat("the ", arrived_bytes, " bytes of the frame that arrived"),
                  absl::StrCat(frame.size_bytes));
  }
  return frame;
}

std::vector<FrameHeader> ReadFrames(const wire::ChunkMessage& from, Half half, int64_t chunk_elements,
                                    const Payload& payload, FieldReader& fields) {
  std::vector<FrameHeader> frames;
  const int count = fields.Count("frames", from.frames_size(), 0, fields.limits().max_frames);
  if (payload.size() != static_cast<size_t>(from.frames_size())) {
    fields.Refuse("frames", absl::StrCat("as many as the ", payload.size(), " frames that arrived"),
                  absl::StrCat(from.frames_size()));
    return frames;
  }
  frames.reserve(count);
  for (int i = 0; i < count; ++i) {
    frames.push_back(
        ReadFrame(from.frames(i), half, chunk_elements, payload[i].size_bytes(), fields.Within("frames", i)));
  }
  return frames;
}

// A contribution is empty of somebody who had nothing to add, and a result of a round in which nobody had anything.
void CheckEmptiness(const ChunkMessage& chunk, FieldReader& fields) {
  const bool is_result = chunk.made_in != Epoch();
  if (chunk.id.half == Half::kBroadcast) fields.Expect(is_result, "made_in", "an epoch in a broadcast half", "0");
  if (chunk.kind == RoundKind::kAbstention) fields.Expect(chunk.frames.empty(), "frames", "0 of an abstention", "more");
  const bool may_be_cut = chunk.kind == RoundKind::kAggregate && chunk.id.half == Half::kReduce && !is_result;
  if (!may_be_cut || chunk.frames.empty()) {
    fields.Expect(chunk.cut_frames == 0, "cut_frames", "0 but of a contribution to a sum",
                  absl::StrCat(chunk.cut_frames));
  }
  if (chunk.kind != RoundKind::kAggregate || chunk.frames.empty()) {
    fields.Expect(chunk.cuts.empty(), "cuts", "0 but of sums", absl::StrCat(chunk.cuts.size()));
  }
  if (!chunk.frames.empty()) return;
  fields.Expect(chunk.id.half != Half::kState, "frames", "at least 1 of a state", "0");
  const bool is_nobodys = chunk.kind == RoundKind::kAbstention;
  fields.Expect(!is_result || is_nobodys, "frames", "at least 1 in a result that has a kind", "0");
  fields.Expect(chunk.weight == 0, "weight", "0 with 0 frames", absl::StrCat(chunk.weight));
}

}  // namespace

void WriteChunkId(const ChunkId& from, wire::ChunkId& to) {
  to.set_epoch(from.epoch.value());
  to.set_attempt(from.attempt.value());
  to.set_round(from.round.value());
  to.set_key(from.key.value());
  to.set_chunk(from.chunk.value());
  to.set_half(static_cast<wire::Half>(from.half));
}

ChunkId ReadChunkId(const wire::ChunkId& from, FieldReader fields) {
  ChunkId id;
  id.epoch = Epoch(from.epoch());
  id.attempt = Attempt(from.attempt());
  id.round = Round(from.round());
  id.half = fields.OneOf("half", from.half(), kLastHalf);
  id.key = KeyId(from.key());
  if (id.half != Half::kState) id.key = fields.NonZero<KeyId>("key", from.key());
  id.chunk = ChunkIndex(from.chunk());
  return id;
}

void WriteSourceRoute(const SourceRoute& from, wire::SourceRoute& to) {
  to.mutable_path()->Reserve(static_cast<int>(from.path.size()));
  for (NodeId node : from.path) to.add_path(node.value());
  to.set_hop(from.hop);
}

SourceRoute ReadSourceRoute(const wire::SourceRoute& from, FieldReader fields) {
  SourceRoute route;
  route.path = ReadPath(from.path(), fields);
  route.hop = from.hop();
  // A path of the wrong length has been refused already.
  if (!route.path.empty())
    route.hop = fields.Between("hop", from.hop(), 0u, static_cast<uint32_t>(route.path.size()) - 2);
  return route;
}

std::vector<NodeId> ReadPath(const google::protobuf::RepeatedField<uint32_t>& from, FieldReader fields) {
  std::vector<NodeId> path;
  const int count = fields.Count("path", from.size(), 2, fields.limits().max_path_nodes);
  path.reserve(count);
  for (int i = 0; i < count; ++i) path.push_back(fields.NonZero<NodeId>("path", from.Get(i)));
  fields.Expect(!HasRepetition(path), "path", "each node once", "a node twice");
  return path;
}

void Write(const ChunkMessage& from, wire::Envelope& to) {
  wire::ChunkMessage& chunk = *to.mutable_chunk();
  WriteChunkId(from.id, *chunk.mutable_id());
  chunk.set_policy(from.policy.value());
  chunk.set_tree(from.tree.value());
  chunk.set_kind(static_cast<wire::RoundKind>(from.kind));
  chunk.set_source_incarnation(from.source_incarnation.value());
  WriteSourceRoute(from.route, *chunk.mutable_route());
  chunk.set_is_auxiliary(from.is_auxiliary);
  chunk.set_weight(from.weight);
  chunk.set_priority(from.priority);
  chunk.set_elements(from.elements);
  chunk.set_place(from.place);
  chunk.set_made_in(from.made_in.value());
  for (const FrameHeader& frame : from.frames) WriteFrame(frame, *chunk.add_frames());
  chunk.set_cut_frames(from.cut_frames);
  for (const Cut& cut : from.cuts) {
    wire::Cut& written = *chunk.add_cuts();
    written.set_node(cut.node.value());
    written.set_frames(cut.frames);
  }
  chunk.set_link_sequence(from.link_sequence);
  chunk.set_sent_at_ns(from.sent_at.nanoseconds());
  chunk.set_ack_may_wait(from.ack_may_wait);
  if (from.result_ratio < 1) chunk.set_result_ratio(from.result_ratio);
  chunk.set_precision(static_cast<wire::PrecisionRoute>(from.precision));
}

ChunkMessage ReadChunk(const wire::ChunkMessage& from, const Payload& payload, FieldReader fields) {
  ChunkMessage chunk;
  chunk.id = ReadChunkId(from.id(), fields.Within("id"));
  chunk.policy = fields.NonZero<PolicyVersion>("policy", from.policy());
  chunk.tree = TreeIndex(from.tree());
  chunk.kind = fields.OneOf("kind", from.kind(), kLastRoundKind);
  chunk.source_incarnation = fields.NonZero<Incarnation>("source_incarnation", from.source_incarnation());
  chunk.route = ReadSourceRoute(from.route(), fields.Within("route"));
  chunk.is_auxiliary = from.is_auxiliary();
  chunk.weight = from.weight();
  chunk.priority = from.priority();
  chunk.elements = fields.Between("elements", from.elements(), int64_t{1}, fields.limits().max_chunk_elements);
  chunk.place = from.place();
  chunk.made_in = Epoch(from.made_in());
  chunk.frames = ReadFrames(from, chunk.id.half, chunk.elements, payload, fields);
  const auto most_frames = static_cast<uint32_t>(fields.limits().max_frames);
  chunk.cut_frames = fields.Between("cut_frames", from.cut_frames(), 0u, most_frames);
  const int cuts = fields.Count("cuts", from.cuts_size(), 0, fields.limits().max_path_nodes);
  for (int i = 0; i < cuts; ++i) {
    FieldReader within = fields.Within("cuts", i);
    chunk.cuts.push_back({within.NonZero<NodeId>("node", from.cuts(i).node()),
                          within.Between("frames", from.cuts(i).frames(), 1u, most_frames)});
  }
  chunk.link_sequence = from.link_sequence();
  chunk.sent_at = fields.Time("sent_at", from.sent_at_ns());
  chunk.ack_may_wait = from.ack_may_wait();
  if (from.result_ratio() != 0) {
    chunk.result_ratio = fields.FiniteBetween("result_ratio", from.result_ratio(), kLeastResultRatio, 1);
  }
  chunk.precision = fields.OneOf("precision", from.precision(), kLastPrecisionRoute);
  CheckEmptiness(chunk, fields);
  return chunk;
}

}  // namespace banyan
