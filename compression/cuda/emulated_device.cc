#include "compression/cuda/emulated_device.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

namespace banyan {
namespace {

constexpr int kGarbage = 0xa5;

// A step of all threads of a block, in an order that `random` draws: any odd factor permutes a power of two.
template <typename K>
void RunStep(const K& kernel, int step, int64_t block, typename K::Shared& shared, Random& random) {
  static_assert(std::has_single_bit(static_cast<unsigned>(K::kThreads)));
  const uint64_t factor = random.Next() | 1;
  const uint64_t first = random.Next();
  for (uint64_t i = 0; i < K::kThreads; ++i) {
    kernel.Step(step, block, static_cast<int>((first + i * factor) % K::kThreads), shared);
  }
}

template <typename K>
void RunBlock(const K& kernel, int64_t block, Random& random) {
  static_assert(std::is_trivially_copyable_v<typename K::Shared>);
  typename K::Shared shared;
  std::memset(static_cast<void*>(&shared), kGarbage, sizeof(shared));
  for (int step = 0; step < K::kSteps; ++step) RunStep(kernel, step, block, shared, random);
}

}  // namespace

class EmulatedDevice::Access {
 public:
  explicit Access(const Memory& memory) : memory_(memory) {
    for (const auto& part : memory_) part->Open();
  }
  ~Access() {
    for (const auto& part : memory_) part->Close();
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  const Memory& memory_;
};

absl::StatusOr<Buffer> EmulatedDevice::Allocate(int64_t elements, DataType type) {
  if (allocations_left_-- <= 0) return absl::ResourceExhaustedError("the emulated device has no memory left");
  if (elements == 0) return Buffer();
  const int64_t size_bytes = elements * SizeOf(type);
  absl::StatusOr<std::unique_ptr<FencedMemory>> memory = FencedMemory::Map(size_bytes);
  if (!memory.ok()) return memory.status();
  const auto place = memory_.insert(memory_.end(), *std::move(memory));
  void* const data = (*place)->data();
  const Access access(memory_);
  std::memset(data, kGarbage, static_cast<size_t>(size_bytes));
  return Buffer::Wrap(data, elements, type, MemoryKind::kDevice, [this, place] { memory_.erase(place); });
}

absl::Status EmulatedDevice::Clear(void* memory, int64_t size_bytes) {
  const Access access(memory_);
  if (size_bytes > 0) std::memset(memory, 0, size_bytes);
  return absl::OkStatus();
}

absl::Status EmulatedDevice::CopyToDevice(const void* host, int64_t size_bytes, void* device) {
  if (size_bytes == 0) return absl::OkStatus();
  const Access access(memory_);
  std::memcpy(device, host, size_bytes);
  ++to_device_.copies;
  to_device_.bytes += size_bytes;
  return absl::OkStatus();
}

absl::Status EmulatedDevice::CopyToHost(const void* device, int64_t size_bytes, void* host) {
  if (size_bytes == 0) return absl::OkStatus();
  const Access access(memory_);
  std::memcpy(host, device, size_bytes);
  ++to_host_.copies;
  to_host_.bytes += size_bytes;
  return absl::OkStatus();
}

absl::Status EmulatedDevice::Run(const Kernel& kernel, int64_t blocks) {
  const Access access(memory_);
  const bool backwards = random_.Chance(0.5);
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t block = backwards ? blocks - 1 - i : i;
    std::visit([&](const auto& one) { RunBlock(one, block, random_); }, kernel);
  }
  return absl::OkStatus();
}

}  // namespace banyan
