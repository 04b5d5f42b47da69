// How a kernel of device.h runs on a GPU: as it is, its steps apart by barriers, its Shared in the block's shared
// memory. A source instantiates LaunchCuda() for each of its kernels. Thread-safe on distinct streams.
#ifndef BANYAN_COMPRESSION_CUDA_LAUNCH_CUH_
#define BANYAN_COMPRESSION_CUDA_LAUNCH_CUH_

#include <cstdint>

#include "compression/cuda/cuda_calls.h"
#include "compression/cuda/cuda_result.cuh"

namespace banyan {

template <typename K>
__global__ void __launch_bounds__(K::kThreads) RunOnGpu(K kernel) {
  __shared__ typename K::Shared shared;
  for (int step = 0; step < K::kSteps; ++step) {
    if (step > 0) __syncthreads();
    kernel.Step(step, static_cast<int64_t>(blockIdx.x), static_cast<int>(threadIdx.x), shared);
  }
}

template <typename K>
CudaResult LaunchCuda(const CudaQueue& queue, const K& kernel, int64_t blocks) {
  const DeviceScope scope(queue.device);
  if (scope.error() != cudaSuccess) return ResultOf(scope.error());
  RunOnGpu<<<static_cast<unsigned>(blocks), K::kThreads, 0, queue.stream>>>(kernel);
  return ResultOf(cudaGetLastError());
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_LAUNCH_CUH_
