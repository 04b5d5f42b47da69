// A device with memory of its own, and the kernels that it runs.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_H_

#include <cstdint>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compression/cuda/index_kernels.h"
#include "compression/cuda/rht_kernels.h"
#include "compression/cuda/selection_kernels.h"
#include "compression/cuda/sign_kernels.h"
#include "compression/cuda/value_kernels.h"
#include "core/buffer.h"

namespace banyan {

// A kernel, that is, what runs on a device: a value that holds numbers and pointers to the device's memory. It says
// what one thread does in one step.
//
//   kThreads            threads of a block, a power of two
//   kSteps              all threads of a block wait for each other between two steps
//   Shared              what a block's threads share, undefined before the first step
//   Step(step, block, thread, shared)
//
// Invariants:
// - Between two steps no thread reads what another one writes.
// - What several threads add to, they add to atomically; blocks meet nowhere else.
//
// So the order of threads and blocks changes nothing. The kernels use nothing but C++ and a few integer operations.
// Hence they do on any device what they do on a host (emulated_device.h). Values; thread-compatible.
using Kernel =
    std::variant<GatherKernel, ScatterKernel, WriteBytesKernel, EncodeSignsKernel, DecodeSignsKernel,
                 TransformTilesKernel, TransformAcrossKernel, ScaleRowsKernel, PackRowsKernel, FlipRowsKernel,
                 SampleKernel, CountDigitsKernel, ChooseDigitKernel, CountKeptKernel, ListKeptKernel, SumBeforeKernel,
                 SumGapsKernel, CountZerosKernel, WriteIndicesKernel, ReadUnaryKernel, AddLowBitsKernel>;

// What runs kernels: a GPU (cuda_device.h), or a host that does what a GPU would (emulated_device.h). What it is told
// happens in that order; whatever needs no answer may happen after the call, and an error of it come with a later call.
// Thread-compatible; owned by the ComputeDevice or test that opened it, and outlives its memory.
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
