// Keeps a promise of the kernel's that a process loses when it changes its user namespace: the signal that it gets when
// its parent ends (PR_SET_PDEATHSIG). It is restored when the object goes. Thread-compatible; for the thread that
// makes it.
#ifndef BANYAN_WAN_PARENT_DEATH_H_
#define BANYAN_WAN_PARENT_DEATH_H_

#include <sys/types.h>

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_WAN_PARENT_DEATH_H_
