// What this node has put into one round where votes leave residuals (VoteAggregate::kMean), until the result says what
// it was worth. Each attempt has its own. Thread-compatible; owned by RoundState.
//
// Invariants:
// - Of a chunk at most one is ever taken: that of the epoch in which the chunk's one result was made.
#ifndef BANYAN_NODE_VOTES_OPEN_VOTES_H_
#define BANYAN_NODE_VOTES_OPEN_VOTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_values.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "topology/chunk_assignment.h"

namespace banyan {

// One voter's vote on a chunk, and what it was cast on: the sums of the two, which nobody writes while this is held.
struct CastVote {
  VoteCount vote;
  Buffer gradient;
  Buffer residual;  // may be empty

  Offered offered() const {
    return {gradient.floats(), residual.empty() ? absl::Span<const float>() : residual.floats()};
  }
};

class OpenVotes {
 public:
  struct Part {
    ElementRange range;
    std::vector<CastVote> votes;  // by voter; none: residuals went in as they are
  };

  // Keeps what was put into the chunk in an attempt of `epoch`.
  void Keep(ChunkIndex chunk, Epoch epoch, Part part) { parts_.insert_or_assign({chunk, epoch}, std::move(part)); }
  // The chunk's result, `made_in` an epoch, is held here: forgets the chunk, and returns what was put in then.
  std::optional<Part> Take(ChunkIndex chunk, Epoch made_in) {
    std::optional<Part> taken;
    auto part = parts_.lower_bound({chunk, Epoch()});
    while (part != parts_.end() && part->first.first == chunk) {
      if (part->first.second == made_in) taken = std::move(part->second);
      part = parts_.erase(part);
    }
    return taken;
  }

  // Of the votes; gradients and residuals are their owners'.
  int64_t size_bytes() const {
    int64_t bytes = 0;
    for (const auto& [id, part] : parts_) {
      for (const CastVote& cast : part.votes) {
        bytes += static_cast<int64_t>(cast.vote.planes().size() * sizeof(uint64_t));
      }
    }
    return bytes;
  }

 private:
  std::map<std::pair<ChunkIndex, Epoch>, Part> parts_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_VOTES_OPEN_VOTES_H_
