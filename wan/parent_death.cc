#include "wan/parent_death.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace banyan {

ParentDeathKeeper::ParentDeathKeeper() : parent_(getppid()) { prctl(PR_GET_PDEATHSIG, &signal_); }

ParentDeathKeeper::~ParentDeathKeeper() {
  if (signal_ == 0) return;
  prctl(PR_SET_PDEATHSIG, signal_);
  // The parent may have ended before the line above.
  if (getppid() != parent_) raise(signal_);
}

}  // namespace banyan
