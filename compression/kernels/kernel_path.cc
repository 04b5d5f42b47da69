#include "compression/kernels/kernel_path.h"

namespace banyan {
namespace {

KernelPath WidestPath() {
#if BANYAN_HAS_X86_PATHS
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx2 && has_avx512) return KernelPath::kAvx512;
  if (has_avx2) return KernelPath::kAvx2;
#endif
  return KernelPath::kPortable;
}

}  // namespace

KernelPath BestKernelPath() {
  static const KernelPath best = WidestPath();
  return best;
}

std::vector<KernelPath> KernelPaths() {
  std::vector<KernelPath> paths;
  for (KernelPath path : {KernelPath::kPortable, KernelPath::kAvx2, KernelPath::kAvx512}) {
    if (path <= BestKernelPath()) paths.push_back(path);
  }
  return paths;
}

}  // namespace banyan
