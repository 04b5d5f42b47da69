// Random numbers by position that are added to values before their signs are taken. Vectorised by the compiler; the
// same bits everywhere. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_DITHER_H_
#define BANYAN_COMPRESSION_TRIMMABLE_DITHER_H_

#include "absl/types/span.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

// The dither of element i is uniform in [-bound, bound), from the upper 24 bits of RandomWord(key, i).

// dithered[i] = values[i], cut to [-bound, bound], plus its dither. REQUIRES: equal lengths.
void AddDither(absl::Span<const float> values, RandomKey key, float bound, absl::Span<float> dithered);

// values[i] -= its dither.
void SubtractDither(RandomKey key, float bound, absl::Span<float> values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_DITHER_H_
