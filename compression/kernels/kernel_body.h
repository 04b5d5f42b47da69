// BANYAN_KERNEL_BODY before the body of a kernel: it becomes part of each version of the kernel and thereby takes that
// version's instructions. Where a CUDA compiler reads it, the device is one of them. There a body takes nothing of
// <bit> but bit_cast: nvcc 13 takes GCC's builtins behind it for unreachable, without a word.
#ifndef BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_
#define BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_

#if defined(__CUDACC__)
#define BANYAN_KERNEL_BODY __host__ __device__ inline __attribute__((always_inline))
#else
#define BANYAN_KERNEL_BODY inline __attribute__((always_inline))
#endif

#endif  // BANYAN_COMPRESSION_KERNELS_KERNEL_BODY_H_
