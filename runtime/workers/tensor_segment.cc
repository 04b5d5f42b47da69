#include "runtime/workers/tensor_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "posix/process_limits.h"

namespace banyan {
namespace {

// Slots begin at cache lines, so that two that are written at the same time do not disturb each other.
constexpr int64_t kAlignmentBytes = 64;
// The kernel counts a little otherwise than the list of mappings does.
constexpr double kFullShare = 0.99;
// Linux 6.3 and later; Debian's headers are older. Where vm.memfd_noexec is 2 the kernel refuses memory without it.
constexpr unsigned kNoExecSeal = 0x0008;

int64_t SlotBytes(const TensorSegment::Shape& shape) {
  const int64_t size_bytes = shape.elements * SizeOf(shape.type);
  return (size_bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

// Where mmap fails although there is memory: the kernel's limit on mappings binds. Empty when it does not.
std::string MappingAdvice() {
  const int64_t most = MappingLimit();
  std::ifstream maps("/proc/self/maps");
  const auto count = std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
  if (most == 0 || static_cast<double>(count) < static_cast<double>(most) * kFullShare) return "";
  return absl::StrCat("; this process has ", count, " mappings, and vm.max_map_count is ", most,
                      ": initialise small tensors together with InitGroup, or raise it with sysctl");
}

FileDescriptor NewMemory() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  FileDescriptor file(memfd_create("banyan-tensor", kFlags | kNoExecSeal));
  if (file.valid() || errno != EINVAL) return file;
  return FileDescriptor(memfd_create("banyan-tensor", kFlags));
}

absl::StatusOr<std::shared_ptr<TensorSegment>> MapFile(FileDescriptor file, const TensorSegment::Shape& shape) {
  const int64_t size_bytes = TensorSegment::SizeBytes(shape);
  void* memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat("cannot map ", size_bytes, " bytes of shared memory",
                                                   error == ENOMEM ? MappingAdvice() : ""));
  }
  // Where it cannot be kept from forked children, these have it without harm as long as they do not touch it.
  (void)madvise(memory, size_bytes, MADV_DONTFORK);
  return std::make_shared<TensorSegment>(std::move(file), memory, shape);
}

}  // namespace

int64_t TensorSegment::SizeBytes(const Shape& shape) {
  return SlotBytes(shape) * (int64_t{shape.gradient_slots} + shape.result_slots);
}

absl::StatusOr<std::shared_ptr<TensorSegment>> TensorSegment::Create(const Shape& shape) {
  const int64_t size_bytes = SizeBytes(shape);
  FileDescriptor file = NewMemory();
  if (!file.valid()) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat("cannot make shared memory",
                                                   error == EMFILE ? absl::StrCat("; ", DescriptorAdvice()) : ""));
  }
  if (ftruncate(file.get(), size_bytes) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", size_bytes, " bytes of shared memory"));
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return absl::ErrnoToStatus(errno, "cannot seal shared memory");
  }
  return MapFile(std::move(file), shape);
}

absl::StatusOr<std::shared_ptr<TensorSegment>> TensorSegment::Map(FileDescriptor file, const Shape& shape) {
  if (!file.valid()) {
    // The kernel drops those for which the receiver has no room.
    return absl::ResourceExhaustedError(absl::StrCat("no descriptor of shared memory came; ", DescriptorAdvice()));
  }
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError("expected shared memory that is sealed against shrinking");
  }
  struct stat info;
  if (fstat(file.get(), &info) != 0) return absl::ErrnoToStatus(errno, "cannot look at shared memory");
  if (info.st_size < SizeBytes(shape)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", SizeBytes(shape), " bytes of shared memory, got ", info.st_size));
  }
  return MapFile(std::move(file), shape);
}

TensorSegment::TensorSegment(FileDescriptor file, void* memory, const Shape& shape)
    : file_(std::move(file)), memory_(memory), shape_(shape) {}

TensorSegment::~TensorSegment() {
  // In a forked child something else may be there.
  if (process_.IsHere()) munmap(memory_, size_bytes());
}

TensorView TensorSegment::gradient(uint32_t slot) const {
  BANYAN_CHECK(slot < shape_.gradient_slots);
  return Slot(slot);
}

TensorView TensorSegment::result(uint32_t slot) const {
  BANYAN_CHECK(slot < shape_.result_slots);
  return Slot(shape_.gradient_slots + slot);
}

TensorView TensorSegment::Slot(uint32_t index) const {
  auto* start = static_cast<char*>(memory_) + SlotBytes(shape_) * index;
  return {start, shape_.elements, shape_.type};
}

}  // namespace banyan
