// Where the results of one round go from this node within one attempt. A result that was made in an earlier epoch goes
// up the reduce half in place of a sum, and so reaches the root. Every result goes down the broadcast half from there.
// Thread-compatible; owned by RoundState, one for each attempt.
//
// Invariants:
// - Of each chunk at most one message goes up in an attempt: the sum or the result.
// - Each child in the broadcast half gets the result once in an attempt, also when it was passed on in an earlier one:
//   trees change, and some member may not hold it yet.
#ifndef BANYAN_NODE_ROUNDS_RESULT_PASSING_H_
#define BANYAN_NODE_ROUNDS_RESULT_PASSING_H_

#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "node/rounds/reduce_half.h"
#include "proto/half.h"

namespace banyan {

class ResultPassing {
 public:
  // How a result comes to be here.
  enum class From : uint8_t {
    kHeld,    // since an earlier attempt
    kChild,   // a child in the reduce half has sent it up
    kParent,  // the parent in the broadcast half has sent it down
    kMade     // by this node, which is the root
  };
  struct Hop {
    NodeId to;
    Half half = Half::kReduce;
    friend bool operator==(const Hop&, const Hop&) = default;
  };

  // `attempt` outlives this.
  explicit ResultPassing(const ReduceHalf* attempt) : attempt_(attempt), chunks_(attempt->chunks()) {}

  // Returns where the chunk's result has to go now. REQUIRES: `has_passed_up` says whether this node's sum has left.
  std::vector<Hop> OnResult(ChunkIndex chunk, From from, bool has_passed_up);

 private:
  struct Chunk {
    bool went_up = false;
    bool went_down = false;
  };

  const ReduceHalf* attempt_;
  std::vector<Chunk> chunks_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_ROUNDS_RESULT_PASSING_H_
