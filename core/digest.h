// Hashes that are the same on every machine and in every run. Pure functions.
#ifndef BANYAN_CORE_DIGEST_H_
#define BANYAN_CORE_DIGEST_H_

#include <cstdint>
#include <initializer_list>

#include "absl/types/span.h"

namespace banyan {

// Returns a digest of `values` in their order.
uint64_t Digest(std::initializer_list<uint64_t> values);

uint64_t DigestBytes(absl::Span<const uint8_t> bytes, uint64_t seed);

}  // namespace banyan

#endif  // BANYAN_CORE_DIGEST_H_
