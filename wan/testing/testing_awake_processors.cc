#include "wan/testing/testing_awake_processors.h"

#include <sched.h>

#include <stop_token>

namespace banyan {
namespace {

// Not at all where the priority cannot be had: then it would take time from what is measured.
void KeepAwake(const std::stop_token& stop) {
  const sched_param none = {};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) return;
  while (!stop.stop_requested()) {
  }
}

}  // namespace

AwakeProcessors::AwakeProcessors() {
  const unsigned count = std::thread::hardware_concurrency();
  for (unsigned i = 0; i < count; ++i) threads_.emplace_back(KeepAwake);
}

}  // namespace banyan
