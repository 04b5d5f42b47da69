#include "compression/cuda/launch.cuh"
#include "compression/cuda/value_kernels.h"

namespace banyan {

template CudaResult LaunchCuda(const CudaQueue&, const GatherKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const ScatterKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const WriteBytesKernel&, int64_t);

}  // namespace banyan
