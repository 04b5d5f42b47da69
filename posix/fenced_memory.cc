#include "posix/fenced_memory.h"

#include <sys/mman.h>

#include <cstddef>

#include "absl/strings/str_format.h"
#include "core/check.h"

namespace banyan {

absl::StatusOr<std::unique_ptr<FencedMemory>> FencedMemory::Map(int64_t size_bytes) {
  BANYAN_CHECK(size_bytes > 0);
  void* const data =
      mmap(nullptr, static_cast<size_t>(size_bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrFormat("expected %d bytes of memory, got none", size_bytes));
  }
  return std::unique_ptr<FencedMemory>(new FencedMemory(data, size_bytes));
}

FencedMemory::~FencedMemory() { BANYAN_CHECK(munmap(data_, static_cast<size_t>(size_bytes_)) == 0); }

void FencedMemory::Open() {
  BANYAN_CHECK(mprotect(data_, static_cast<size_t>(size_bytes_), PROT_READ | PROT_WRITE) == 0);
}

void FencedMemory::Close() { BANYAN_CHECK(mprotect(data_, static_cast<size_t>(size_bytes_), PROT_NONE) == 0); }

}  // namespace banyan
