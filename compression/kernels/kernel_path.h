// Chooses the version of a kernel that runs. A kernel is made once per vector width, and all versions give the same
// bits. Callers take BestKernelPath(); tests compare the others with it. Pure functions; thread-safe.
#ifndef BANYAN_COMPRESSION_KERNELS_KERNEL_PATH_H_
#define BANYAN_COMPRESSION_KERNELS_KERNEL_PATH_H_

#include <cstdint>
#include <vector>

#include "compression/kernels/kernel_body.h"

// Before a function that may use these instructions; it is called only where the path says so.
#if defined(__x86_64__)
#define BANYAN_HAS_X86_PATHS 1
#define BANYAN_AVX2 __attribute__((target("avx2,f16c")))
#define BANYAN_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#else
#define BANYAN_HAS_X86_PATHS 0
#define BANYAN_AVX2
#define BANYAN_AVX512
#endif

namespace banyan {

enum class KernelPath : uint8_t { kPortable, kAvx2, kAvx512 };

// The widest that this processor runs.
KernelPath BestKernelPath();

// All that it runs, the portable one first.
std::vector<KernelPath> KernelPaths();

// The versions of one kernel: Body::Run, a BANYAN_KERNEL_BODY that takes pointers and numbers.
template <typename Body>
struct KernelVersions {
  template <typename... Arguments>
  static void Portable(Arguments... arguments) {
    Body::Run(arguments...);
  }
  template <typename... Arguments>
  BANYAN_AVX2 static void Avx2(Arguments... arguments) {
    Body::Run(arguments...);
  }
  template <typename... Arguments>
  BANYAN_AVX512 static void Avx512(Arguments... arguments) {
    Body::Run(arguments...);
  }
};

template <typename Body, typename... Arguments>
void RunKernel(KernelPath path, Arguments... arguments) {
  switch (path) {
    case KernelPath::kPortable:
      return KernelVersions<Body>::Portable(arguments...);
    case KernelPath::kAvx2:
      return KernelVersions<Body>::Avx2(arguments...);
    case KernelPath::kAvx512:
      return KernelVersions<Body>::Avx512(arguments...);
  }
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_KERNEL_PATH_H_
