// Where the precision routes of rounds come from, and how low-bit rounds are cut into chunks.
#ifndef BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
#define BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/tensor_layout.h"
#include "proto/precision/key_routes.h"

namespace banyan {

class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Returns the routes of the key's rounds that are bound from now on, by slice. REQUIRES: the key exists.
  virtual KeyRoutes RouteOf(KeyId key) const = 0;
  // Returns the first elements of the slices after the first that a new key gets; none where it is one.
  virtual std::vector<int64_t> BordersOf(const std::string& name, const TensorShape& shape) const = 0;
};

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

#endif  // BANYAN_SCHEDULER_ROUNDS_ROUTE_SOURCE_H_
