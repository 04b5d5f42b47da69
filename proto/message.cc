#include "proto/message.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "proto/session_messages.h"
#include "proto/state_layout.h"

namespace banyan {

static_assert(sizeof(Message) <= 448, "queues are full of messages; a large part of a rare one belongs on the heap");

Message::Message() = default;
Message::Message(const Message& other) = default;
Message::Message(Message&& other) noexcept = default;
Message::~Message() = default;

// Assignment as the variant has it would make code for each of the alternatives once more.
Message& Message::operator=(const Message& other) {
  if (this != &other) *this = Message(other);
  return *this;
}

Message& Message::operator=(Message&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

// ---- what fields must agree on ----

bool HasRepetition(const std::vector<NodeId>& path) {
  absl::InlinedVector<NodeId, 16> sorted(path.begin(), path.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

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

void CheckFrames(const ChunkMessage& chunk, const Payload& payload, FieldReader& fields) {
  if (payload.size() != chunk.frames.size()) {
    return fields.Refuse("frames", absl::StrCat("as many as the ", payload.size(), " frames that arrived"),
                         absl::StrCat(chunk.frames.size()));
  }
  const int64_t width = chunk.id.half == Half::kState ? 1 : 4;
  for (size_t i = 0; i < payload.size(); ++i) {
    const FrameHeader& frame = chunk.frames[i];
    const int64_t arrived_bytes = payload[i].size_bytes();
    FieldReader within = fields.Within("frames", static_cast<int>(i));
    const int64_t first = within.Between("first_element", frame.first_element, int64_t{0}, chunk.elements - 1);
    within.Between("elements", frame.elements, int64_t{1}, chunk.elements - first);
    const bool is_plain = chunk.id.half == Half::kState || frame.codec == CodecId::kFp32;
    const bool has_all = frame.size_bytes % width == 0 && frame.size_bytes / width == frame.elements;
    within.Expect(!is_plain || has_all, "size_bytes",
                  absl::StrCat(width, " bytes for each of ", frame.elements, " elements"),
                  absl::StrCat(frame.size_bytes));
    within.Expect(frame.size_bytes == arrived_bytes, "size_bytes",
                  absl::StrCat("the ", arrived_bytes, " bytes of the frame that arrived"),
                  absl::StrCat(frame.size_bytes));
  }
}

void CheckRounds(Round first_round, Round last_round, FieldReader& fields) {
  constexpr uint64_t kMostBoundRounds = 65536;
  // The first round past the last one wraps around to a large number.
  const bool is_walkable = last_round.value() - first_round.value() < kMostBoundRounds;
  fields.Expect(is_walkable, "last_round",
                absl::StrCat("0 to ", kMostBoundRounds - 1, " rounds after round ", first_round.value()),
                absl::StrCat("round ", last_round.value()));
}

void CheckShape(const StateShape& shape, FieldReader& fields) {
  int64_t room = StateLayout::kMostBytes;
  for (size_t i = 0; i < shape.parts.size(); ++i) {
    FieldReader within = fields.Within("parts", static_cast<int>(i));
    const int64_t size_bytes = within.Between("size_bytes", shape.parts[i].size_bytes, int64_t{1}, room);
    const bool is_sorted = i == 0 || shape.parts[i - 1].name < shape.parts[i].name;
    within.Expect(is_sorted, "name", "names in rising order", "another one");
    room -= std::min(size_bytes, room);
  }
}

int HashesOf(const StateShape& shape) {
  // The total of a shape that was refused means nothing, and must not overflow.
  int64_t total = 0;
  for (const StateShape::Part& part : shape.parts) {
    total = std::min(total + std::clamp<int64_t>(part.size_bytes, 0, StateLayout::kMostBytes), StateLayout::kMostBytes);
  }
  return static_cast<int>(StateLayout(total).chunks());
}

void CheckRuns(const std::vector<StateRequest::Run>& chunks, FieldReader& fields) {
  uint32_t low = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    FieldReader within = fields.Within("chunks", static_cast<int>(i));
    const uint32_t first = within.Between("first", chunks[i].first.value(), low, StateLayout::kMostChunks - 1);
    const uint32_t last = within.Between("last", chunks[i].last.value(), first, StateLayout::kMostChunks - 1);
    low = std::min(last + 1, StateLayout::kMostChunks - 1);
  }
}

double FiniteLoss(double loss) {
  if (std::isnan(loss)) return kLargestLoss;
  return std::clamp(loss, -kLargestLoss, kLargestLoss);
}

double OriginalLoss(double loss) {
  return std::abs(loss) < kLargestLoss ? loss : std::copysign(std::numeric_limits<double>::infinity(), loss);
}

absl::Status CheckTensorName(absl::string_view name) {
  if (name.empty() || name.size() > kMaxTensorNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a key's name has 1 to ", kMaxTensorNameBytes, " characters, this one ", name.size()));
  }
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) return absl::InvalidArgumentError("a key's name is made of printable ASCII characters only");
  return absl::OkStatus();
}

}  // namespace banyan
