// A CUDA GPU, for device_chunk.h: kernels and memory in the order of its default stream. Its calls wait only where they
// bring something to the host or take something from it. Memory that was used once stays its own until it closes.
// Thread-compatible; owned by the ComputeDevice that opened it, outlives its memory.
#ifndef BANYAN_COMPRESSION_CUDA_CUDA_DEVICE_H_
#define BANYAN_COMPRESSION_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/cuda_calls.h"
#include "compression/cuda/device.h"

namespace banyan {

class CudaDevice : public Device {
 public:
  // GPUs that the driver shows. NotFound, saying so, when there is none, or no driver.
  static absl::StatusOr<int> Count();

  // The GPU of that number, from 0. NotFound when there is none of that number, FailedPrecondition when it has no
  // memory in the order of streams.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Open(int number);

  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  absl::StatusOr<Buffer> Allocate(int64_t elements, DataType type) override;
  absl::Status Clear(void* memory, int64_t size_bytes) override;
  absl::Status CopyToDevice(const void* host, int64_t size_bytes, void* device) override;
  absl::Status CopyToHost(const void* device, int64_t size_bytes, void* host) override;
  absl::Status Run(const Kernel& kernel, int64_t blocks) override;

 private:
  explicit CudaDevice(const CudaQueue& queue) : queue_(queue) {}

  CudaQueue queue_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_CUDA_DEVICE_H_
