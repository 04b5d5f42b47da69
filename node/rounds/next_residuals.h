// What the encodings of one round at this node will leave as residuals, if the results come of them. Each attempt has
// its own. Thread-compatible; owned by RoundState.
//
// Invariants:
// - An encoding starts from the committed residual, whatever earlier attempts at its round have left here.
// - Of a chunk at most one is ever committed: that of the epoch in which the chunk's one result was made.
#ifndef BANYAN_NODE_ROUNDS_NEXT_RESIDUALS_H_
#define BANYAN_NODE_ROUNDS_NEXT_RESIDUALS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "core/buffer.h"
#include "core/ids.h"
#include "node/rounds/tensor_memory.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class NextResiduals {
 public:
  // Keeps what the chunk's encoding in an attempt of `epoch` leaves of the `range`.
  void Keep(ChunkIndex chunk, Epoch epoch, const ElementRange& range, Buffer left) {
    next_.insert_or_assign({chunk, epoch}, Next{range, std::move(left)});
  }
  // Notes that the chunk's result, `made_in` an epoch, is held here: what was left then is committed to `memory`.
  void OnResult(ChunkIndex chunk, Epoch made_in, TensorMemory& memory) {
    auto next = next_.lower_bound({chunk, Epoch()});
    while (next != next_.end() && next->first.first == chunk) {
      if (next->first.second == made_in) memory.CommitResidual(next->second.range, std::move(next->second.left));
      next = next_.erase(next);
    }
  }

  int64_t size_bytes() const {
    int64_t bytes = 0;
    for (const auto& [id, next] : next_) bytes += next.left.size_bytes();
    return bytes;
  }

 private:
  struct Next {
    ElementRange range;
    Buffer left;
  };

  std::map<std::pair<ChunkIndex, Epoch>, Next> next_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_NEXT_RESIDUALS_H_
