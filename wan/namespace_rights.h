// Gains the right to make network namespaces: as root it is there, otherwise through a user namespace of one's own.
#ifndef BANYAN_WAN_NAMESPACE_RIGHTS_H_
#define BANYAN_WAN_NAMESPACE_RIGHTS_H_

#include <sys/types.h>

#include "absl/status/status.h"

namespace banyan {

// Keeps a promise of the kernel's that a process loses when it changes its user namespace: the signal that it gets when
// its parent ends (PR_SET_PDEATHSIG). It is restored when the object goes. Thread-compatible; for the thread that
// makes it.
class ParentDeathKeeper {
 public:
  ParentDeathKeeper();
  ParentDeathKeeper(const ParentDeathKeeper&) = delete;
  ParentDeathKeeper& operator=(const ParentDeathKeeper&) = delete;
  ~ParentDeathKeeper();

 private:
  const pid_t parent_;
  int signal_ = 0;  // 0: none
};

// Moves the process into a user namespace when it may not make network namespaces as it is. The process must have one
// thread. PERMISSION_DENIED says what forbids it and what to do.
absl::Status GainNamespaceRights();

}  // namespace banyan

#endif  // BANYAN_WAN_NAMESPACE_RIGHTS_H_
