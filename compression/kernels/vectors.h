// Compiler vectors of the width that a path's registers have, so that the compiler never has to split one. Operations
// are IEEE 754's per lane, the same ones at every width. For bodies of kernels; never in a signature that is not
// inlined.
#ifndef BANYAN_COMPRESSION_KERNELS_VECTORS_H_
#define BANYAN_COMPRESSION_KERNELS_VECTORS_H_

#include <cstdint>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

template <int kWidth>
struct Vectors {
  // So many make sixteen lanes.
  static constexpr int kParts = static_cast<int>(kLanes) / kWidth;

  typedef float Floats __attribute__((vector_size(kWidth * 4)));
  typedef uint32_t Words __attribute__((vector_size(kWidth * 4)));
  typedef double Doubles __attribute__((vector_size(kWidth * 4)));    // half as many
  typedef float HalfFloats __attribute__((vector_size(kWidth * 2)));  // as many as Doubles
  typedef uint32_t HalfWords __attribute__((vector_size(kWidth * 2)));

  // The same in memory, at any alignment.
  typedef float FloatsInMemory __attribute__((vector_size(kWidth * 4), aligned(1), may_alias));
  typedef uint32_t WordsInMemory __attribute__((vector_size(kWidth * 4), aligned(1), may_alias));
  typedef float HalfFloatsInMemory __attribute__((vector_size(kWidth * 2), aligned(1), may_alias));

  BANYAN_KERNEL_BODY static Floats Load(const float* from) { return *reinterpret_cast<const FloatsInMemory*>(from); }
  BANYAN_KERNEL_BODY static void Store(float* to, Floats values) { *reinterpret_cast<FloatsInMemory*>(to) = values; }
  // Memory is read through these alone: `auto` drops what a type in memory says of its alignment.
  BANYAN_KERNEL_BODY static HalfFloats LoadHalf(const float* from) {
    return *reinterpret_cast<const HalfFloatsInMemory*>(from);
  }
  BANYAN_KERNEL_BODY static Words LoadWords(const void* from) { return *static_cast<const WordsInMemory*>(from); }
  BANYAN_KERNEL_BODY static void StoreWords(void* to, Words words) { *static_cast<WordsInMemory*>(to) = words; }
};

// Runs Body<width>::Run as the path's version.
template <template <int> typename Body, typename... Arguments>
void RunVectorKernel(KernelPath path, Arguments... arguments) {
  switch (path) {
    case KernelPath::kPortable:
      return KernelVersions<Body<4>>::Portable(arguments...);
    case KernelPath::kAvx2:
      return KernelVersions<Body<8>>::Avx2(arguments...);
    case KernelPath::kAvx512:
      return KernelVersions<Body<16>>::Avx512(arguments...);
  }
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_VECTORS_H_
