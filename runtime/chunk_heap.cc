#include "runtime/chunk_heap.h"

#include <malloc.h>

#include <limits>

namespace banyan {

void KeepChunksInHeap(bool is_shared) {
  // The largest threshold that the C library takes; tensors above it are mapped one by one.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 16 << 20);
  if (is_shared) mallopt(M_ARENA_MAX, 1);
}

}  // namespace banyan
