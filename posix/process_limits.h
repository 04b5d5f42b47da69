// What the system lets this process have: memory, mappings and descriptors. Asks the kernel, and reads its files.
// Thread-safe.
#ifndef BANYAN_POSIX_PROCESS_LIMITS_H_
#define BANYAN_POSIX_PROCESS_LIMITS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace banyan {

// ---- memory ----

// How much memory this process may ever use: what the kernel lets its control group have, or the machine has at all.
struct MemoryLimit {
  int64_t bytes = 0;   // with swap, where there is some
  std::string source;  // for the user: "memory.max of cgroup /pod7", "the memory of this machine"
};

// Returns the least limit that is known; nullopt where none is. `root` is the directory that has /proc and /sys.
std::optional<MemoryLimit> FindMemoryLimit(const std::string& root = "");

// Returns RESOURCE_EXHAUSTED, which says how much this process may have; for a std::bad_alloc.
absl::Status OutOfMemory();

// Keeps the memory of this process, which holds secrets, from being written into a core file when it crashes, and from
// being read by other processes of its user, debuggers among them. For good.
void KeepMemorySecret();

// ---- descriptors ----

// Raises the soft limit to the hard one: the soft one is for programs that use select(). Returns the limit now.
int64_t RaiseDescriptorLimit();

// Returns the limit now.
int64_t DescriptorLimit();

// Returns whether this process could have another descriptor now.
bool HasDescriptorLeft();

// Returns "this process may have N descriptors ..." and what to do about it, for errors of want of one.
std::string DescriptorAdvice();

// ---- mappings ----

// Returns how many the kernel lets a process have (vm.max_map_count); 0 when the system does not say.
int64_t MappingLimit();

}  // namespace banyan

#endif  // BANYAN_POSIX_PROCESS_LIMITS_H_
