// What the sources share that nvcc compiles: CUDA's errors as CudaResult, and the choice of a device. Thread-safe.
#ifndef BANYAN_COMPRESSION_CUDA_CUDA_RESULT_CUH_
#define BANYAN_COMPRESSION_CUDA_CUDA_RESULT_CUH_

#include "compression/cuda/cuda_result.h"

namespace banyan {

inline CudaResult ResultOf(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return {};
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
      return {CudaOutcome::kNoDevice, cudaGetErrorString(error)};
    case cudaErrorMemoryAllocation:
      return {CudaOutcome::kNoMemory, cudaGetErrorString(error)};
    default:
      return {CudaOutcome::kFailed, cudaGetErrorString(error)};
  }
}

// Makes a device the calling thread's one until the end of the scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess) error_ = cudaSetDevice(device);
  }
  ~DeviceScope() { cudaSetDevice(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  cudaError_t error() const { return error_; }

 private:
  int before_ = 0;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_CUDA_RESULT_CUH_
