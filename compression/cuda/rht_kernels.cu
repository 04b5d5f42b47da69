#include "compression/cuda/launch.cuh"
#include "compression/cuda/rht_kernels.h"

namespace banyan {

template CudaResult LaunchCuda(const CudaQueue&, const TransformTilesKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const TransformAcrossKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const ScaleRowsKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const PackRowsKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const FlipRowsKernel&, int64_t);

}  // namespace banyan
