#include "posix/batch_scheduling.h"

#include <pthread.h>
#include <sched.h>

namespace banyan {

void UseBatchScheduling() {
  const sched_param parameters = {};
  (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
}

}  // namespace banyan
