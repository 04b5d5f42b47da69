// How kernels are compiled for each width of vectors and each device, and the sixteen lanes that the formats of frames
// and the order of sums speak of whatever that width is.
#ifndef BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_
#define BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_

#include <cstdint>

// BANYAN_KERNEL_BODY before the body of a kernel: it becomes part of each version of the kernel and thereby takes that
// version's instructions. Where a CUDA compiler reads it, the device is one of them. There a body takes nothing of
// <bit> but bit_cast: nvcc 13 takes GCC's builtins behind it for unreachable, without a word.
#if defined(__CUDACC__)
#define BANYAN_KERNEL_BODY __host__ __device__ inline __attribute__((always_inline))
#else
#define BANYAN_KERNEL_BODY inline __attribute__((always_inline))
#endif

// BANYAN_VECTOR_CLONES before a function lets the compiler make it once per vector width and choose at program start.
// The choice runs before a sanitizer's own start, hence sanitized builds have the portable path alone.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BANYAN_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BANYAN_VECTOR_CLONES
#endif

namespace banyan {

inline constexpr int64_t kLanes = 16;

inline constexpr uint32_t kSignBit = 0x80000000;

// The sum of all lanes in the order of vector_math.h. Overwrites them.
BANYAN_KERNEL_BODY double TotalOfLanes(double* lanes) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_
