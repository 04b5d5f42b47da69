// The memory of a process that holds secrets. Thread-safe.
#ifndef BANYAN_POSIX_SECRET_MEMORY_H_
#define BANYAN_POSIX_SECRET_MEMORY_H_

namespace banyan {

// Keeps this process's memory from being written into a core file when it crashes, and from being read by other
// processes of its user, debuggers among them. For good.
void KeepMemorySecret();

}  // namespace banyan

#endif  // BANYAN_POSIX_SECRET_MEMORY_H_
