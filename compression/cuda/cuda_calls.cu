#include "compression/cuda/cuda_calls.h"
#include "compression/cuda/cuda_result.cuh"

namespace banyan {
namespace {

// What `call` says on the queue's device.
template <typename Call>
CudaResult On(const CudaQueue& queue, Call call) {
  const DeviceScope scope(queue.device);
  return ResultOf(scope.error() == cudaSuccess ? call() : scope.error());
}

}  // namespace

CudaResult CountCudaDevices(int* count) {
  const CudaResult result = ResultOf(cudaGetDeviceCount(count));
  if (result.outcome != CudaOutcome::kDone) *count = 0;
  if (result.outcome == CudaOutcome::kDone && *count == 0) return ResultOf(cudaErrorNoDevice);
  return result;
}

CudaResult HasCudaPools(int device, bool* has) {
  int value = 0;
  const CudaResult result = ResultOf(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, device));
  *has = value != 0;
  return result;
}

CudaResult OpenCudaPool(int device, CUmemPoolHandle_st** pool) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  *pool = nullptr;
  const cudaError_t error = cudaMemPoolCreate(pool, &properties);
  if (error != cudaSuccess) return ResultOf(error);
  uint64_t keep_bytes = UINT64_MAX;
  return ResultOf(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &keep_bytes));
}

CudaResult CloseCudaPool(CUmemPoolHandle_st* pool) { return ResultOf(cudaMemPoolDestroy(pool)); }

CudaResult AllocateCuda(const CudaQueue& queue, int64_t size_bytes, void** memory) {
  *memory = nullptr;
  return On(queue,
            [&] { return cudaMallocFromPoolAsync(memory, static_cast<size_t>(size_bytes), queue.pool, queue.stream); });
}

CudaResult FreeCuda(const CudaQueue& queue, void* memory) {
  return On(queue, [&] { return cudaFreeAsync(memory, queue.stream); });
}

CudaResult ClearCuda(const CudaQueue& queue, void* memory, int64_t size_bytes) {
  return On(queue, [&] { return cudaMemsetAsync(memory, 0, static_cast<size_t>(size_bytes), queue.stream); });
}

CudaResult CopyCuda(const CudaQueue& queue, const void* from, int64_t size_bytes, void* to) {
  return On(queue, [&] {
    const cudaError_t error =
        cudaMemcpyAsync(to, from, static_cast<size_t>(size_bytes), cudaMemcpyDefault, queue.stream);
    return error == cudaSuccess ? cudaStreamSynchronize(queue.stream) : error;
  });
}

}  // namespace banyan
