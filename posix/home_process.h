// The process in which an object was made. A forked child has a copy of the object: without the threads that serve it,
// perhaps with locks that nobody gives back, and with the parent's sockets. A child uses nothing of such an object, and
// does not destroy it. Value; thread-safe.
#ifndef BANYAN_POSIX_HOME_PROCESS_H_
#define BANYAN_POSIX_HOME_PROCESS_H_

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {

class HomeProcess {
 public:
  HomeProcess() : pid_(OwnPid()) {}

  // Returns whether the caller runs in that process, and in no forked child of it.
  bool IsHere() const { return OwnPid() == pid_; }
  // FAILED_PRECONDITION in a forked child; `what` names the object.
  absl::Status Check(absl::string_view what) const {
    if (IsHere()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("this ", what, " is of process ", pid_, ", and process ",
                                                      OwnPid(), " is a forked child of it; a child opens its own ",
                                                      what, ", or uses none"));
  }

 private:
  // Returns getpid(), which glibc asks the kernel for each time: each call of a session checks this several times. The
  // kernel clears the memory that keeps it in a forked child.
  static pid_t OwnPid() {
    static std::atomic<pid_t>* const known = MapForgottenByChildren();
    if (known == nullptr) return getpid();
    const pid_t pid = known->load(std::memory_order_relaxed);
    if (pid != 0) return pid;
    known->store(getpid(), std::memory_order_relaxed);
    return getpid();
  }
  // Returns null where the kernel has no such memory.
  static std::atomic<pid_t>* MapForgottenByChildren() {
    constexpr size_t kBytes = sizeof(std::atomic<pid_t>);
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (madvise(memory, kBytes, MADV_WIPEONFORK) == 0) return new (memory) std::atomic<pid_t>(0);
    munmap(memory, kBytes);
    return nullptr;
  }

  pid_t pid_;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_HOME_PROCESS_H_
