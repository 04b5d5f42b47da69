#include "compression/cuda/cuda_device.h"

#include <string>
#include <variant>

#include "absl/strings/str_format.h"

namespace banyan {
namespace {

constexpr int64_t kMostBlocks = INT32_MAX;

absl::Status StatusOf(const CudaResult& result, const CudaQueue& queue, const char* what) {
  const std::string text = absl::StrFormat("%s on GPU %d: %s", what, queue.device, result.text);
  switch (result.outcome) {
    case CudaOutcome::kDone:
      return absl::OkStatus();
    case CudaOutcome::kNoDevice:
      return absl::NotFoundError(text);
    case CudaOutcome::kNoMemory:
      return absl::ResourceExhaustedError(text);
    case CudaOutcome::kFailed:
      return absl::InternalError(text);
  }
  return absl::InternalError(text);
}

}  // namespace

absl::StatusOr<int> CudaDevice::Count() {
  int count = 0;
  const CudaResult result = CountCudaDevices(&count);
  if (result.outcome == CudaOutcome::kDone) return count;
  return absl::NotFoundError(
      absl::StrFormat("expected a CUDA GPU, got none: %s; `nvidia-smi` shows those that the driver has", result.text));
}

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Open(int number) {
  const absl::StatusOr<int> count = Count();
  if (!count.ok()) return count.status();
  if (number < 0 || number >= *count) {
    return absl::NotFoundError(absl::StrFormat("expected a GPU from 0 to %d, got %d", *count - 1, number));
  }
  CudaQueue queue = {.device = number};
  bool has_pools = false;
  absl::Status status = StatusOf(HasCudaPools(number, &has_pools), queue, "asking for pools of memory");
  if (!status.ok()) return status;
  if (!has_pools) {
    return absl::FailedPreconditionError(
        absl::StrFormat("expected memory in the order of streams (cudaMallocAsync) on GPU %d, which has none", number));
  }
  status = StatusOf(OpenCudaPool(number, &queue.pool), queue, "opening a pool of memory");
  if (!status.ok()) return status;
  return std::unique_ptr<CudaDevice>(new CudaDevice(queue));
}

// Nobody is left to be told when giving back fails, here and in Allocate().
CudaDevice::~CudaDevice() { static_cast<void>(CloseCudaPool(queue_.pool)); }

absl::StatusOr<Buffer> CudaDevice::Allocate(int64_t elements, DataType type) {
  if (elements == 0) return Buffer();
  void* memory = nullptr;
  const int64_t size_bytes = elements * SizeOf(type);
  const CudaResult result = AllocateCuda(queue_, size_bytes, &memory);
  if (result.outcome != CudaOutcome::kDone) {
    return StatusOf(result, queue_, absl::StrFormat("allocating %d bytes", size_bytes).c_str());
  }
  return Buffer::Wrap(memory, elements, type, MemoryKind::kDevice,
                      [queue = queue_, memory] { static_cast<void>(FreeCuda(queue, memory)); });
}

absl::Status CudaDevice::Clear(void* memory, int64_t size_bytes) {
  if (size_bytes == 0) return absl::OkStatus();
  return StatusOf(ClearCuda(queue_, memory, size_bytes), queue_, "clearing memory");
}

absl::Status CudaDevice::CopyToDevice(const void* host, int64_t size_bytes, void* device) {
  if (size_bytes == 0) return absl::OkStatus();
  return StatusOf(CopyCuda(queue_, host, size_bytes, device), queue_, "copying to the device");
}

absl::Status CudaDevice::CopyToHost(const void* device, int64_t size_bytes, void* host) {
  if (size_bytes == 0) return absl::OkStatus();
  return StatusOf(CopyCuda(queue_, device, size_bytes, host), queue_, "copying to the host");
}

absl::Status CudaDevice::Run(const Kernel& kernel, int64_t blocks) {
  if (blocks == 0) return absl::OkStatus();
  if (blocks > kMostBlocks) {
    return absl::InvalidArgumentError(
        absl::StrFormat("expected at most %d blocks of a kernel, got %d: encode smaller "
                        "chunks",
                        kMostBlocks, blocks));
  }
  return std::visit([&](const auto& one) { return StatusOf(LaunchCuda(queue_, one, blocks), queue_, "a kernel"); },
                    kernel);
}

}  // namespace banyan
