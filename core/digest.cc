#include "core/digest.h"

#include <xxhash.h>

namespace banyan {

uint64_t Digest(std::initializer_list<uint64_t> values) {
  return XXH3_64bits(values.begin(), values.size() * sizeof(uint64_t));
}

uint64_t DigestBytes(absl::Span<const uint8_t> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace banyan
