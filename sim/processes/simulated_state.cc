#include "sim/processes/simulated_state.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "core/digest.h"

namespace banyan {

// The mark itself, and bytes that follow from it.
std::vector<uint8_t> SimulatedState::ChunkOf(const ReplicaMark& replica, ChunkIndex chunk) const {
  std::vector<uint8_t> bytes(layout_.SizeOf(chunk));
  uint8_t mark[sizeof(ReplicaMark)];
  std::memcpy(mark, &replica, sizeof(mark));
  const uint64_t seed = Digest({replica.step, replica.lineage, replica.results});
  const auto first = static_cast<uint64_t>(layout_.OffsetOf(chunk));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t at = first + i;
    bytes[i] = at < sizeof(mark) ? mark[at] : static_cast<uint8_t>((at * 131 + seed) >> 3);
  }
  return bytes;
}

std::optional<ReplicaMark> SimulatedState::Fetched() const {
  ReplicaMark replica;
  std::memcpy(&replica, memory_.data(), sizeof(replica));
  for (ChunkIndex chunk(0); layout_.Has(chunk); chunk = chunk.Next()) {
    const std::vector<uint8_t> right = ChunkOf(replica, chunk);
    if (!std::equal(right.begin(), right.end(), memory_.begin() + layout_.OffsetOf(chunk))) return std::nullopt;
  }
  return replica;
}

std::optional<StateCall> SimulatedState::Answer(const StateTask& task) {
  if (const auto* read = std::get_if<ReadState>(&task)) return On(*read);
  if (const auto* write = std::get_if<WriteState>(&task)) return On(*write);
  is_held_ = std::get<HoldWorkers>(task).is_held;
  return std::nullopt;
}

StateCall SimulatedState::On(const ReadState& read) const {
  WorkerStateRead answer{worker_, read.chunk, Buffer()};
  if (!boundary_.has_value()) return answer;
  if (read.chunk.has_value()) {
    answer.bytes = Buffer::CopyOfBytes(ChunkOf(*boundary_, *read.chunk));
    return answer;
  }
  std::vector<uint64_t> hashes;
  for (ChunkIndex chunk(0); layout_.Has(chunk); chunk = chunk.Next()) {
    hashes.push_back(DigestBytes(ChunkOf(*boundary_, chunk), 0));
  }
  const auto* raw = reinterpret_cast<const uint8_t*>(hashes.data());
  answer.bytes = Buffer::CopyOfBytes(absl::MakeConstSpan(raw, hashes.size() * sizeof(uint64_t)));
  return answer;
}

StateCall SimulatedState::On(const WriteState& write) {
  const absl::Span<const uint8_t> bytes = write.bytes.AsBytes().bytes();
  const bool fits = memory_.size() == static_cast<size_t>(layout_.total_bytes());
  if (fits) std::copy(bytes.begin(), bytes.end(), memory_.begin() + layout_.OffsetOf(write.chunk));
  return WorkerStateWritten{worker_, write.chunk, fits};
}

}  // namespace banyan
