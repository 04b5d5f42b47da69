// What encodings of one tensor at this node have dropped and not yet made up for, in units of the sum: the *committed*
// residual, from which the next encodings start. Thread-compatible; owned by TensorMemory.
//
// Invariants:
// - Indexed by the tensor's elements, in pieces that never overlap: chunks may differ from round to round.
// - A piece's numbers never change once it is here. A computation may go on reading one that has been replaced.
#ifndef BANYAN_NODE_ROUNDS_COMMITTED_RESIDUAL_H_
#define BANYAN_NODE_ROUNDS_COMMITTED_RESIDUAL_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/buffer.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class CommittedResidual {
 public:
  // Returns the range's numbers, zeros where nothing was committed. Shares memory; takes some only for what is in no
  // single piece.
  Buffer Read(const ElementRange& range);
  // Replaces the range's numbers by `values`, which nobody writes any more. REQUIRES: as many elements.
  void Commit(const ElementRange& range, Buffer values);
  // Forgets the range's numbers, which are zeros then; pieces that reach beyond it keep the rest.
  void Drop(const ElementRange& range);

  int64_t size_bytes() const { return size_bytes_; }

 private:
  void Put(int64_t first_element, Buffer piece);

  std::map<int64_t, Buffer> pieces_;  // by first element
  int64_t size_bytes_ = 0;            // of all pieces
};

// What votes of this node on one tensor have left out and not yet made up for, in units of the sum: a residual for each
// place among its voters, which is a worker's own while all its workers push. Thread-compatible; owned by TensorMemory.
//
// Invariants:
// - As those of CommittedResidual, for each place.
// - Whoever votes or pushes next takes up what all places have: what a worker that is gone has left is not lost.
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

#endif  // BANYAN_NODE_ROUNDS_COMMITTED_RESIDUAL_H_
