// What votes of this node on one tensor have left out and not yet made up for, in units of the sum: a residual for each
// place among its voters, which is a worker's own while all its workers push. Thread-compatible; owned by TensorMemory.
//
// Invariants:
// - As those of CommittedResidual, for each place.
// - Whoever votes or pushes next takes up what all places have: what a worker that is gone has left is not lost.
#ifndef BANYAN_NODE_ROUNDS_VOTER_RESIDUALS_H_
#define BANYAN_NODE_ROUNDS_VOTER_RESIDUALS_H_

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "node/rounds/committed_residual.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class VoterResiduals {
 public:
  // Returns the range's numbers by place; an empty buffer where a place has none of the tensor. Shares memory.
  std::vector<Buffer> Read(const ElementRange& range);
  // Replaces the range's numbers by `left`, by place, which nobody writes any more; other places have none of it.
  // REQUIRES: as many elements each.
  void Commit(const ElementRange& range, std::vector<Buffer> left);

  bool empty() const { return size_bytes() == 0; }
  int64_t size_bytes() const;

 private:
  std::vector<CommittedResidual> places_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_VOTER_RESIDUALS_H_
