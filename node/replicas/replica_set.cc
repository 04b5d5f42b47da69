#include "node/replicas/replica_set.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {

ReplicaSet::ReplicaSet(const Replicas& replicas, const std::vector<KeyId>& keys) {
  for (const KeyId key : keys) Add(key, *replicas.LastComplete(key), replicas.ImageBytes(key));
}

absl::StatusOr<ReplicaSet> ReplicaSet::ToGive(const Replicas& replicas, const std::vector<KeysPushed>& wanted) {
  ReplicaSet set;
  for (const KeysPushed& run : wanted) {
    for (KeyId key = run.first_key; key <= run.last_key; key = key.Next()) {
      const bool has_room =
          replicas.CanGive(key, run.round) && set.total_bytes() <= StateLayout::kMostBytes - replicas.ImageBytes(key);
      if (!has_room) {
        return absl::FailedPreconditionError(absl::StrCat("it does not hold the replica of key ", key.value(),
                                                          " as it was after round ", run.round.value()));
      }
      set.Add(key, run.round, replicas.ImageBytes(key));
    }
  }
  return set;
}

void ReplicaSet::Add(KeyId key, Round after, int64_t size_bytes) {
  parts_.push_back({key, after, total_bytes(), size_bytes});
}

StateShape ReplicaSet::Shape() const {
  StateShape shape;
  // The parts of a shape are in order of their names.
  for (const Part& part : parts_) {
    shape.parts.push_back({absl::StrFormat("replica of key %010u", part.key.value()), part.size_bytes});
  }
  return shape;
}

std::vector<KeysPushed> ReplicaSet::Runs() const {
  std::vector<KeysPushed> runs;
  for (const Part& part : parts_) {
    const bool goes_on = !runs.empty() && runs.back().round == part.after && runs.back().last_key.Next() == part.key;
    if (!goes_on) runs.push_back({part.key, part.key, part.after});
    runs.back().last_key = part.key;
  }
  return runs;
}

bool ReplicaSet::IsCurrent(const Replicas& replicas) const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return replicas.LastComplete(part.key) == part.after; });
}

Buffer ReplicaSet::ReadChunk(const Replicas& replicas, ChunkIndex chunk) const {
  const int64_t first = layout().OffsetOf(chunk);
  Buffer bytes = Buffer::AllocateForOverwrite(layout().SizeOf(chunk), DataType::kByte);
  absl::Span<uint8_t> rest(static_cast<uint8_t*>(bytes.mutable_data()), bytes.size_bytes());
  auto part = std::upper_bound(parts_.begin(), parts_.end(), first,
                               [](int64_t byte, const Part& other) { return byte < other.first_byte; });
  --part;
  int64_t within = first - part->first_byte;
  for (; !rest.empty(); ++part, within = 0) {
    const auto size = static_cast<size_t>(std::min<int64_t>(rest.size(), part->size_bytes - within));
    replicas.Read(part->key, within, rest.first(size));
    rest.remove_prefix(size);
  }
  return bytes;
}

}  // namespace banyan
