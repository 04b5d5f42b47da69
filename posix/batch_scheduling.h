// How the threads of a daemon share processors with each other. Free function.
#ifndef BANYAN_POSIX_BATCH_SCHEDULING_H_
#define BANYAN_POSIX_BATCH_SCHEDULING_H_

namespace banyan {

// Has the calling thread, and those that it starts, wait for their turn when they are woken up. Otherwise a thread that
// is handed one thing of a burst takes the processor from the thread that hands it over, once for each thing. Where a
// processor is free it makes no difference. Does nothing where the system does not allow it.
void UseBatchScheduling();

}  // namespace banyan

#endif  // BANYAN_POSIX_BATCH_SCHEDULING_H_
