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

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_COMMITTED_RESIDUAL_H_
