// What this node has sent up in one round and queues may have cut, until the result says what was taken of it. Each
// attempt has its own. Thread-compatible; owned by RoundState.
//
// Invariants:
// - Of a chunk at most one is ever taken: that of the epoch in which the chunk's one result was made.
#ifndef BANYAN_NODE_ROUNDS_SENT_SUMS_H_
#define BANYAN_NODE_ROUNDS_SENT_SUMS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "compression/encoded_chunk.h"
#include "core/ids.h"

namespace banyan {

class SentSums {
 public:
  // Keeps what was sent of the chunk in an attempt of `epoch`.
  void Keep(ChunkIndex chunk, Epoch epoch, CheckedChunk sum) { sums_.insert_or_assign({chunk, epoch}, std::move(sum)); }
  // The chunk's result, `made_in` an epoch, is held here: forgets the chunk, and returns what was sent in that epoch.
  std::optional<CheckedChunk> Take(ChunkIndex chunk, Epoch made_in) {
    std::optional<CheckedChunk> taken;
    auto sum = sums_.lower_bound({chunk, Epoch()});
    while (sum != sums_.end() && sum->first.first == chunk) {
      if (sum->first.second == made_in) taken = std::move(sum->second);
      sum = sums_.erase(sum);
    }
    return taken;
  }

  int64_t size_bytes() const {
    int64_t bytes = 0;
    for (const auto& [id, sum] : sums_) bytes += sum.payload_bytes();
    return bytes;
  }

 private:
  std::map<std::pair<ChunkIndex, Epoch>, CheckedChunk> sums_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_SENT_SUMS_H_
