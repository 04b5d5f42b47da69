// Brings back what queues have cut of this node's contributions: it is added to the residual, and goes into a later
// round. Thread-compatible; owned by RoundEngine.
//
// Invariants:
// - A result says what was cut of all that is in it. So what comes back is exactly what the result lacks, whichever
//   copy of a contribution was taken, and whatever happened to acknowledgements and epochs since.
// - A round is not complete here before all has come back: the next one, and a flush, begins with it.
#ifndef BANYAN_NODE_ROUNDS_CUT_RETURNS_H_
#define BANYAN_NODE_ROUNDS_CUT_RETURNS_H_

#include <cstdint>
#include <vector>

#include "core/buffer.h"
#include "core/ids.h"
#include "node/computation_table.h"
#include "node/rounds/encoding_chooser.h"
#include "node/rounds/round_reports.h"
#include "node/rounds/round_script.h"
#include "node/step_context.h"
#include "proto/chunk_message.h"
#include "topology/chunk_assignment.h"

namespace banyan {

class CutReturns {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // All that was cut of this node's part in the round, as far as its results are here, is in the residual.
    virtual void OnCutsReturned(StepContext& step, KeyId key, Round round) = 0;
  };

  // All outlive this; `script` may be null.
  CutReturns(NodeId self, KeyStates* keys, ComputationTable* computations, EncodingChooser* encodings,
             RoundScript* script, Owner* owner)
      : self_(self), keys_(keys), computations_(computations), encodings_(encodings), script_(script), owner_(owner) {}

  // The chunk's result, `made_in` an epoch, is held here for the first time; `cuts` is what was cut of all that is in
  // it. REQUIRES: the round is bound.
  void OnResult(StepContext& step, KeyId key, Round round, ChunkIndex chunk, Epoch made_in, std::vector<Cut> cuts);

 private:
  void Return(StepContext& step, KeyId key, Round round, const ElementRange& range, const CheckedChunk& sent,
              uint32_t frames);
  void OnReturned(StepContext& step, KeyId key, Round round, const ElementRange& range, const Buffer& left);

  NodeId self_;
  KeyStates* keys_;
  ComputationTable* computations_;
  EncodingChooser* encodings_;  // learns what comes through
  RoundScript* script_;
  Owner* owner_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_CUT_RETURNS_H_
