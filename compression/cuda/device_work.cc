#include "compression/cuda/device_work.h"

#include <utility>

#include "absl/status/statusor.h"

namespace banyan {

Buffer DeviceWork::NewBuffer(int64_t elements, DataType type) {
  if (!ok()) return Buffer();
  absl::StatusOr<Buffer> buffer = device_.Allocate(elements, type);
  status_ = buffer.status();
  return ok() ? *std::move(buffer) : Buffer();
}

void DeviceWork::Clear(void* memory, int64_t size_bytes) {
  if (ok()) status_ = device_.Clear(memory, size_bytes);
}

void DeviceWork::RunOver(int64_t elements, int64_t elements_per_block, const Kernel& kernel) {
  RunBlocks((elements + elements_per_block - 1) / elements_per_block, kernel);
}

void DeviceWork::RunBlocks(int64_t blocks, const Kernel& kernel) {
  if (ok()) status_ = device_.Run(kernel, blocks);
}

void* DeviceWork::Keep(Buffer buffer) {
  memory_.push_back(std::move(buffer));
  return memory_.back().mutable_data();
}

}  // namespace banyan
