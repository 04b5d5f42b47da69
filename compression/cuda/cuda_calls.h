// Calls of the CUDA runtime for cuda_device.h, as plain functions. Sources that nvcc compiles know nothing of Abseil,
// and others nothing of CUDA. Each call works on a device by its number and leaves the calling thread's own choice of a
// device as it was. Thread-safe on distinct streams.
#ifndef BANYAN_COMPRESSION_CUDA_CUDA_CALLS_H_
#define BANYAN_COMPRESSION_CUDA_CUDA_CALLS_H_

#include <cstdint>

#include "compression/cuda/cuda_result.h"

// The types that cudaStream_t and cudaMemPool_t point to.
struct CUstream_st;
struct CUmemPoolHandle_st;

namespace banyan {

// A device's stream: what is put into it happens in that order. A null stream is the device's default one. Its memory
// comes from the pool, in the same order.
struct CudaQueue {
  int device = 0;
  CUstream_st* stream = nullptr;
  CUmemPoolHandle_st* pool = nullptr;
};

// kNoDevice, and zero, where there is none or no driver.
CudaResult CountCudaDevices(int* count);

// Sets `*has` to whether `device` has pools, that is, memory in the order of a stream.
CudaResult HasCudaPools(int device, bool* has);

// A pool of the device's memory, which keeps what it once had until it is closed: else each wait for the stream would
// give all of it back to the driver.
CudaResult OpenCudaPool(int device, CUmemPoolHandle_st** pool);
CudaResult CloseCudaPool(CUmemPoolHandle_st* pool);

CudaResult AllocateCuda(const CudaQueue& queue, int64_t size_bytes, void** memory);
CudaResult FreeCuda(const CudaQueue& queue, void* memory);
CudaResult ClearCuda(const CudaQueue& queue, void* memory, int64_t size_bytes);

// Copies `size_bytes` bytes in either direction and waits until that is done.
CudaResult CopyCuda(const CudaQueue& queue, const void* from, int64_t size_bytes, void* to);

// A kernel of device.h, on blocks 0 to blocks - 1. REQUIRES: there are some, below 2^31.
template <typename K>
CudaResult LaunchCuda(const CudaQueue& queue, const K& kernel, int64_t blocks);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_CUDA_CALLS_H_
