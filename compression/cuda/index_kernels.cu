#include "compression/cuda/index_kernels.h"
#include "compression/cuda/launch.cuh"

namespace banyan {

template CudaResult LaunchCuda(const CudaQueue&, const SumGapsKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const CountZerosKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const WriteIndicesKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const ReadUnaryKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const AddLowBitsKernel&, int64_t);

}  // namespace banyan
