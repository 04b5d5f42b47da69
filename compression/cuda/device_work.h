// A piece of work on a device: its temporary memory, and the first error in it, after which nothing of it is done any
// more. So a function says one step after the other and asks once how it went. Thread-compatible; lives in the function
// that does the work.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_WORK_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_WORK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "compression/cuda/device.h"
#include "core/buffer.h"

namespace banyan {

class DeviceWork {
 public:
  // `device` outlives the work.
  explicit DeviceWork(Device& device) : device_(device) {}

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  // Memory for `count` numbers that is kept as long as this object; null after an error.
  template <typename Number>
  Number* New(int64_t count) {
    return static_cast<Number*>(Keep(NewBuffer(count * static_cast<int64_t>(sizeof(Number)), DataType::kByte)));
  }
  // The same with zeros.
  template <typename Number>
  Number* NewZeros(int64_t count) {
    Number* const numbers = New<Number>(count);
    Clear(numbers, count * static_cast<int64_t>(sizeof(Number)));
    return numbers;
  }

  // Memory that whoever holds the buffer keeps; empty after an error.
  Buffer NewBuffer(int64_t elements, DataType type);

  void Clear(void* memory, int64_t size_bytes);

  // One block for each `elements_per_block` of `elements`.
  void RunOver(int64_t elements, int64_t elements_per_block, const Kernel& kernel);
  void RunBlocks(int64_t blocks, const Kernel& kernel);

  // Returns what lies at `device` once all of the above has happened; Number() after an error.
  template <typename Number>
  Number Read(const Number* device) {
    Number number = {};
    if (ok()) status_ = device_.CopyToHost(device, sizeof(number), &number);
    return number;
  }

 private:
  void* Keep(Buffer buffer);

  Device& device_;
  absl::Status status_;
  std::vector<Buffer> memory_;
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_WORK_H_
