// A host that does what a GPU would: every block and every thread of a kernel runs one after the other, step by step,
// with the kernels' own code. For tests of the kernels on machines without a GPU. It makes life hard for kernels.
// Neither memory of the device nor what a block shares is initialised. The order of blocks, and of threads in each
// step, is another one for each seed. Thread-compatible; owned by whoever made it.
#ifndef BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_
#define BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_

#include <cstdint>

#include "compression/cuda/device.h"
#include "core/random.h"

namespace banyan {

class EmulatedDevice : public Device {
 public:
  // `seed` is of the order of threads. It has memory for so many allocations, all told.
  explicit EmulatedDevice(uint64_t seed, int64_t allocations = INT64_MAX)
      : random_(seed), allocations_left_(allocations) {}

  absl::StatusOr<Buffer> Allocate(int64_t elements, DataType type) override;
  absl::Status Clear(void* memory, int64_t size_bytes) override;
  absl::Status CopyToDevice(const void* host, int64_t size_bytes, void* device) override;
  absl::Status CopyToHost(const void* device, int64_t size_bytes, void* host) override;
  absl::Status Run(const Kernel& kernel, int64_t blocks) override;

 private:
  Random random_;
  int64_t allocations_left_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_EMULATED_DEVICE_H_
