// A host that does what a GPU would: every block and every thread of a kernel runs one after the other, step by step,
// with the kernels' own code. For machines without a GPU: `banyan node --device emulated` runs a job as with one,
// slowly. It makes life hard for kernels and for their callers. Neither memory of the device nor what a block shares is
// initialised. The order of blocks, and of threads in each step, is another one for each seed. Thread-compatible; owned
// by the thread or ComputeDevice that made it.
//
// Invariants:
// - The host's code reaches none of the device's memory: outside of the calls here that ends the process.
#ifndef BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_
#define BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_

#include <cstdint>
#include <list>
#include <memory>

#include "compression/cuda/device.h"
#include "core/random.h"
#include "posix/fenced_memory.h"

namespace banyan {

class EmulatedDevice : public Device {
 public:
  // Bytes copied between the two memories so far, and in how many copies.
  struct Copies {
    int64_t copies = 0;
    int64_t bytes = 0;
  };

  // `seed` is of the order of threads. It has memory for so many allocations, all told.
  explicit EmulatedDevice(uint64_t seed, int64_t allocations = INT64_MAX)
      : random_(seed), allocations_left_(allocations) {}

  absl::StatusOr<Buffer> Allocate(int64_t elements, DataType type) override;
  absl::Status Clear(void* memory, int64_t size_bytes) override;
  absl::Status CopyToDevice(const void* host, int64_t size_bytes, void* device) override;
  absl::Status CopyToHost(const void* device, int64_t size_bytes, void* host) override;
  absl::Status Run(const Kernel& kernel, int64_t blocks) override;

  const Copies& to_device() const { return to_device_; }
  const Copies& to_host() const { return to_host_; }

 private:
  using Memory = std::list<std::unique_ptr<FencedMemory>>;
  // What a GPU may do while it lives, and the host may not.
  class Access;

  Random random_;
  int64_t allocations_left_;
  Memory memory_;
  Copies to_device_;
  Copies to_host_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_
