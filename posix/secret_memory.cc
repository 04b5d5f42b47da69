#include "posix/secret_memory.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "core/check.h"

namespace banyan {

void KeepMemorySecret() {
  const rlimit none = {0, 0};
  BANYAN_CHECK(prctl(PR_SET_DUMPABLE, 0) == 0 && setrlimit(RLIMIT_CORE, &none) == 0);
}

}  // namespace banyan
