// Keeps the machine's processors from resting while it lives, for measurements of fractions of a millisecond: a virtual
// machine's processor that rests takes up to half a millisecond to wake, and ten wake-ups are in a round trip. What it
// does for that gives way to all else (SCHED_IDLE). Owned by the measurement. Thread-compatible.
#ifndef BANYAN_WAN_TESTING_TESTING_AWAKE_PROCESSORS_H_
#define BANYAN_WAN_TESTING_TESTING_AWAKE_PROCESSORS_H_

#include <thread>
#include <vector>

namespace banyan {

class AwakeProcessors {
 public:
  AwakeProcessors();

 private:
  // One for each processor; their destruction ends and joins them.
  std::vector<std::jthread> threads_;
};

}  // namespace banyan

#endif  // BANYAN_WAN_TESTING_TESTING_AWAKE_PROCESSORS_H_
