// Where one chunk of one round stands at this node. Plain data; owned and moved along by RoundEngine.
#ifndef BANYAN_NODE_CHUNK_STATE_H_
#define BANYAN_NODE_CHUNK_STATE_H_

#include <cstdint>
#include <set>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/ids.h"
#include "topology/chunk_assignment.h"

namespace banyan {

struct ChunkState {
  TreeIndex tree;
  ElementRange range;

  // The way up: the children counted so far and the own contribution, then one sum.
  std::set<NodeId> children_counted;
  bool own_counted = false;
  uint32_t weight = 0;
  std::vector<CheckedChunk> to_add;  // counted, not yet in the sum
  bool adding = false;               // a computation holds the sum
  Buffer sum;
  bool sum_is_fresh = true;
  CheckedChunk sole;  // of a kBroadcast round: the one contribution that is not empty
  bool passed_up = false;
  bool encoding = false;    // a computation works on what is to be passed up
  double result_ratio = 1;  // least of what the children counted have said

  // The way down: the one result.
  bool has_result = false;
  CheckedChunk result;
  Buffer values;  // decoded, once read
  uint64_t hash = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_CHUNK_STATE_H_
