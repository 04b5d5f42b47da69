#include "compression/cuda/launch.cuh"
#include "compression/cuda/selection_kernels.h"

namespace banyan {

template CudaResult LaunchCuda(const CudaQueue&, const SampleKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const CountDigitsKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const ChooseDigitKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const CountKeptKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const ListKeptKernel&, int64_t);
template CudaResult LaunchCuda(const CudaQueue&, const SumBeforeKernel&, int64_t);

}  // namespace banyan
