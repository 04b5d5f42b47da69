// How much memory this process may ever use: what the kernel lets its control group have, or the machine has at all.
// Reads files of the kernel; thread-safe.
#ifndef BANYAN_POSIX_MEMORY_LIMIT_H_
#define BANYAN_POSIX_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace banyan {

struct MemoryLimit {
  int64_t bytes = 0;   // with swap, where there is some
  std::string source;  // for the user: "memory.max of cgroup /pod7", "the memory of this machine"
};

// Returns the least limit that is known; nullopt where none is. `root` is the directory that has /proc and /sys.
std::optional<MemoryLimit> FindMemoryLimit(const std::string& root = "");

// Returns RESOURCE_EXHAUSTED, which says how much this process may have; for a std::bad_alloc.
absl::Status OutOfMemory();

}  // namespace banyan

#endif  // BANYAN_POSIX_MEMORY_LIMIT_H_
