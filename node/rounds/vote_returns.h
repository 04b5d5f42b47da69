// Settles what this node's votes have left out when the result of a chunk says what they were worth: it becomes the
// voters' residual, and goes into a later round. Where residuals went in as they are, they are used up.
// Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - Residuals change only by a result that is held here: an attempt that comes to nothing leaves them as they were.
// - A round is not complete here before all its votes are settled: the next one, and a flush, begins with what is left.
#ifndef BANYAN_NODE_ROUNDS_VOTE_RETURNS_H_
#define BANYAN_NODE_ROUNDS_VOTE_RETURNS_H_

#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/rounds/round_reports.h"
#include "node/step_context.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class VoteReturns {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // All votes of the round are settled, as far as its results are here.
    virtual void OnVotesSettled(StepContext& step, KeyId key, Round round) = 0;
  };

  // All outlive this.
  VoteReturns(KeyStates* keys, ComputationTable* computations, Owner* owner)
      : keys_(keys), computations_(computations), owner_(owner) {}

  // The chunk's `result`, `made_in` an epoch, is held here for the first time. REQUIRES: the round exists.
  void OnResult(StepContext& step, KeyId key, Round round, ChunkIndex chunk, Epoch made_in, const CheckedChunk& result);

 private:
  void OnSettled(StepContext& step, KeyId key, Round round, const ElementRange& range, const std::vector<Buffer>& left);

  KeyStates* keys_;
  ComputationTable* computations_;
  Owner* owner_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_VOTE_RETURNS_H_
