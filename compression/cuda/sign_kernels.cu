#include "compression/cuda/launch.cuh"
#include "compression/cuda/sign_kernels.h"

namespace banyan {

template CudaResult LaunchCuda(const CudaQueue&, const EncodeSignsKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const DecodeSignsKernel&, int64_t);

}  // namespace banyan
