#include "node/rounds/result_passing.h"

#include <utility>

namespace banyan {

std::vector<ResultPassing::Hop> ResultPassing::OnResult(ChunkIndex index, From from, bool has_passed_up) {
  const TreeSlice& place = attempt_->PlaceOf(index);
  Chunk& chunk = chunks_[index.value()];
  const bool is_root = !place.reduce_parent.has_value();
  std::vector<Hop> hops;
  // What comes from above is there already.
  const bool goes_up = !is_root && from != From::kParent && !chunk.went_down && !has_passed_up;
  if (goes_up && !std::exchange(chunk.went_up, true)) hops.push_back({*place.reduce_parent, Half::kReduce});
  const bool goes_down = is_root || from == From::kParent;
  if (!goes_down || std::exchange(chunk.went_down, true)) return hops;
  for (NodeId child : place.broadcast_children) hops.push_back({child, Half::kBroadcast});
  return hops;
}

}  // namespace banyan
