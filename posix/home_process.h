// The process in which an object was made. A forked child has a copy of the object: without the threads that serve it,
// perhaps with locks that nobody gives back, and with the parent's sockets. A child uses nothing of such an object, and
// does not destroy it. Value; thread-safe.
#ifndef BANYAN_POSIX_HOME_PROCESS_H_
#define BANYAN_POSIX_HOME_PROCESS_H_

#include <sys/types.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {

class HomeProcess {
 public:
  HomeProcess() : pid_(getpid()) {}

  // Returns whether the caller runs in that process, and in no forked child of it.
  bool IsHere() const { return getpid() == pid_; }
  // FAILED_PRECONDITION in a forked child; `what` names the object.
  absl::Status Check(absl::string_view what) const {
    if (IsHere()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("this ", what, " is of process ", pid_, ", and process ",
                                                      getpid(), " is a forked child of it; a child opens its own ",
                                                      what, ", or uses none"));
  }

 private:
  pid_t pid_;
};

}  // namespace banyan

#endif  // BANYAN_POSIX_HOME_PROCESS_H_
