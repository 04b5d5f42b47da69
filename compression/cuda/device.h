// A device with memory of its own that runs kernels: a GPU (cuda_device.h), or a host that does what a GPU would
// (emulated_device.h). What it is told happens in that order; whatever needs no answer may happen after the call, and
// an error of it come with a later call. Thread-compatible; owned by whoever opened it, and outlives its memory.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/kernel.h"
#include "core/buffer.h"

namespace banyan {

class Device {
 public:
  virtual ~Device() = default;

  // Memory of the device (MemoryKind::kDevice), aligned for any number, with whatever lay in it. It is given back when
  // the last copy of the buffer is gone and what was told before has happened. ResourceExhausted when there is none.
  virtual absl::StatusOr<Buffer> Allocate(int64_t elements, DataType type) = 0;

  // Bytes of the device's memory become zero.
  virtual absl::Status Clear(void* memory, int64_t size_bytes) = 0;

  // Copies `size_bytes` bytes between host and device. On return the host's memory is free for other use, or filled.
  virtual absl::Status CopyToDevice(const void* host, int64_t size_bytes, void* device) = 0;
  virtual absl::Status CopyToHost(const void* device, int64_t size_bytes, void* host) = 0;

  // Runs blocks 0 to blocks - 1, nothing for none.
  virtual absl::Status Run(const Kernel& kernel, int64_t blocks) = 0;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_H_
