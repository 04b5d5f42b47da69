#include "runtime/compute_device.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compression/cuda/device_chunk.h"
#include "compression/cuda/emulated_device.h"
#if defined(BANYAN_WITH_CUDA)
#include "compression/cuda/cuda_device.h"
#endif

namespace banyan {
namespace {

std::optional<int> GpuOf(absl::string_view name) {
  int number = 0;
  if (!absl::ConsumePrefix(&name, "cuda:") || !absl::SimpleAtoi(name, &number) || number < 0) return std::nullopt;
  return number;
}

#if defined(BANYAN_WITH_CUDA)
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int number) { return CudaDevice::Open(number); }
#else
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int) {
  return absl::FailedPreconditionError(
      "expected a program built with CUDA, got one built without it: build with `./banyan build --config=cuda`");
}
#endif

bool IsLarge(const Buffer& values) {
  return values.type() == DataType::kFloat32 && values.size_bytes() > ComputeDevice::kBriefBytes;
}

}  // namespace

absl::Status ComputeDevice::CheckName(absl::string_view name) {
  if (name == "cpu" || name == "emulated" || GpuOf(name).has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected cpu, cuda:N such as cuda:0, or emulated, got '", name, "'"));
}

absl::StatusOr<std::unique_ptr<ComputeDevice>> ComputeDevice::Open(const std::string& name, Log log) {
  if (name == "cpu") return nullptr;
  std::unique_ptr<Device> device;
  if (name == "emulated") {
    device = std::make_unique<EmulatedDevice>(1);
  } else {
    absl::StatusOr<std::unique_ptr<Device>> gpu = OpenGpu(*GpuOf(name));
    if (!gpu.ok()) {
      return absl::Status(gpu.status().code(),
                          absl::StrCat("--device ", name, ": ", gpu.status().message(), "; or leave --device out"));
    }
    device = *std::move(gpu);
  }
  return std::make_unique<ComputeDevice>(name, std::move(device), std::move(log));
}

CheckedChunk ComputeDevice::Encode(const Encoding& encoding, const Buffer& values, uint32_t weight) const {
  CheckedChunk chunk;
  const auto encode = [&](Device& device) {
    absl::StatusOr<CheckedChunk> encoded = EncodeOnDevice(encoding, values, weight, device);
    if (encoded.ok()) chunk = *std::move(encoded);
    return encoded.status();
  };
  // A frame of float32 is the values' own memory.
  const bool takes = encoding.codec != CodecId::kFp32 && HasKernels(encoding.codec) && IsLarge(values);
  return takes && Try(&encoded_, encode) ? chunk : ProcessorDevice().Encode(encoding, values, weight);
}

void ComputeDevice::Add(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum) const {
  const auto add = [&](Device& device) { return AddOnDevice(chunks, is_fresh, sum, device); };
  const bool takes = IsLarge(sum) && std::all_of(chunks.begin(), chunks.end(),
                                                 [](const CheckedChunk& chunk) { return HasKernels(chunk); });
  if (!takes || !Try(&sums_, add)) ProcessorDevice().Add(chunks, is_fresh, sum);
}

bool ComputeDevice::Try(int64_t* done, absl::FunctionRef<absl::Status(Device&)> work) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (is_lost_) return false;
  const absl::Status status = work(*device_);
  if (status.ok()) {
    ++*done;
  } else if (absl::IsResourceExhausted(status)) {
    if (out_of_memory_++ == 0) {
      log_(LogLevel::kWarning, absl::StrCat("device ", name_, ": ", status.message(),
                                            "; the processor computes what the device has no memory for"));
    }
  } else {
    is_lost_ = true;
    log_(LogLevel::kError,
         absl::StrCat("device ", name_, ": ", status.message(), "; the processor computes everything from now on"));
  }
  return status.ok();
}

void ComputeDevice::LogWork() const {
  std::lock_guard<std::mutex> lock(mutex_);
  log_(LogLevel::kInfo, absl::StrCat("device ", name_, ": encoded ", encoded_, " chunks, made ", sums_,
                                     " sums; had no memory for ", out_of_memory_));
}

}  // namespace banyan
