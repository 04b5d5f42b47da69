// Sixteen floats at once, as a compiler vector: one register with AVX-512, several elsewhere. Operations are the same
// IEEE 754 ones per lane on every path. For bodies of kernels; never in a signature that is not inlined.
#ifndef BANYAN_COMPRESSION_FLOAT_LANES_H_
#define BANYAN_COMPRESSION_FLOAT_LANES_H_

#include <cstdint>

#include "compression/kernel_path.h"

namespace banyan {

inline constexpr int64_t kLanes = 16;

typedef float FloatLanes __attribute__((vector_size(64)));
typedef uint32_t WordLanes __attribute__((vector_size(64)));
typedef int32_t IntLanes __attribute__((vector_size(64)));

// The same in memory, at any alignment.
typedef float FloatLanesInMemory __attribute__((vector_size(64), aligned(1), may_alias));
typedef uint32_t WordLanesInMemory __attribute__((vector_size(64), aligned(1), may_alias));

inline constexpr uint32_t kSignBit = 0x80000000;

BANYAN_KERNEL_BODY FloatLanes LoadFloats(const float* from) {
  return *reinterpret_cast<const FloatLanesInMemory*>(from);
}

BANYAN_KERNEL_BODY void StoreFloats(float* to, FloatLanes lanes) { *reinterpret_cast<FloatLanesInMemory*>(to) = lanes; }

BANYAN_KERNEL_BODY WordLanes LoadWords(const void* from) { return *static_cast<const WordLanesInMemory*>(from); }

BANYAN_KERNEL_BODY void StoreWords(void* to, WordLanes lanes) { *static_cast<WordLanesInMemory*>(to) = lanes; }

// The bits of the lanes and back.
BANYAN_KERNEL_BODY WordLanes BitsOf(FloatLanes lanes) { return reinterpret_cast<WordLanes>(lanes); }

BANYAN_KERNEL_BODY FloatLanes FloatsOf(WordLanes bits) { return reinterpret_cast<FloatLanes>(bits); }

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_FLOAT_LANES_H_
