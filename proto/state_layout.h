// How the bytes of a training state are cut into chunks: a pure function of their number, so that all holders and all
// joiners cut alike. A value; thread-compatible.
//
// Invariants:
// - There are at most kMostChunks chunks, all of chunk_bytes() but the last, which may be shorter.
// - A slot holds any chunk, or the hashes of all of them.
#ifndef BANYAN_PROTO_STATE_LAYOUT_H_
#define BANYAN_PROTO_STATE_LAYOUT_H_

#include <algorithm>
#include <cstdint>

#include "core/ids.h"

namespace banyan {

class StateLayout {
 public:
  static constexpr uint32_t kMostChunks = 32768;
  static constexpr int64_t kLeastChunkBytes = 1 << 10;
  static constexpr int64_t kUsualChunkBytes = 1 << 18;
  static constexpr int64_t kMostChunkBytes = 1 << 24;
  static constexpr int64_t kMostBytes = kMostChunks * kMostChunkBytes;

  StateLayout() = default;
  // REQUIRES: 0 <= total_bytes <= kMostBytes.
  explicit StateLayout(int64_t total_bytes) : total_bytes_(total_bytes) {
    while (chunk_bytes_ < kUsualChunkBytes && chunk_bytes_ * kFewChunks < total_bytes_) chunk_bytes_ *= 2;
    while (chunk_bytes_ * kMostChunks < total_bytes_) chunk_bytes_ *= 2;
  }

  int64_t total_bytes() const { return total_bytes_; }
  int64_t chunk_bytes() const { return chunk_bytes_; }
  uint32_t chunks() const { return static_cast<uint32_t>((total_bytes_ + chunk_bytes_ - 1) / chunk_bytes_); }
  int64_t hash_bytes() const { return int64_t{chunks()} * static_cast<int64_t>(sizeof(uint64_t)); }
  int64_t slot_bytes() const { return std::max(chunk_bytes_, hash_bytes()); }
  bool Has(ChunkIndex chunk) const { return chunk.value() < chunks(); }
  // REQUIRES of both: Has(chunk).
  int64_t OffsetOf(ChunkIndex chunk) const { return chunk.value() * chunk_bytes_; }
  int64_t SizeOf(ChunkIndex chunk) const { return std::min(chunk_bytes_, total_bytes_ - OffsetOf(chunk)); }

  friend bool operator==(const StateLayout&, const StateLayout&) = default;

 private:
  // Small states are cut finer than usual, so that several holders have something to serve.
  static constexpr int64_t kFewChunks = 8192;

  int64_t total_bytes_ = 0;
  int64_t chunk_bytes_ = kLeastChunkBytes;
};

}  // namespace banyan

#endif  // BANYAN_PROTO_STATE_LAYOUT_H_
