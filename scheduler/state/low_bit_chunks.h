// How low-bit rounds are cut into chunks. Pure functions.
#ifndef BANYAN_SCHEDULER_STATE_LOW_BIT_CHUNKS_H_
#define BANYAN_SCHEDULER_STATE_LOW_BIT_CHUNKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "proto/precision/key_routes.h"

namespace banyan {

// Returns the largest chunk of a low-bit round of a tensor of so many elements, where floats go in chunks of
// `chunk_max_elements` at most. What each chunk costs processors, and headers on links, weighs more where elements take
// fewer bits: chunks are four times as large. Up to 255 voters' counts still take no more bytes than the floats of a
// chunk. But links and processors shall not wait for each other: a tensor has at least eight chunks, if floats would.
inline int64_t LowBitChunk(int64_t elements, int64_t chunk_max_elements) {
  return std::clamp(elements / 8, chunk_max_elements, 4 * chunk_max_elements);
}

// Returns the largest chunk of rounds with these routes of a key of so many elements and slices, under a policy with
// `chunk_max_elements`; 0 for that of the policy, where floats are among them.
inline int64_t ChunkOfRoutes(KeyRoutes routes, int64_t elements, size_t slices, int64_t chunk_max_elements) {
  for (size_t slice = 0; slice < slices; ++slice) {
    if (routes.Of(slice) != PrecisionRoute::kLowBit) return 0;
  }
  return LowBitChunk(elements, chunk_max_elements);
}

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_STATE_LOW_BIT_CHUNKS_H_
