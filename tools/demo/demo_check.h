// Checks what a demo's training must have come to. Pure function.
#ifndef BANYAN_TOOLS_DEMO_DEMO_CHECK_H_
#define BANYAN_TOOLS_DEMO_DEMO_CHECK_H_

#include "absl/status/status.h"
#include "tools/demo/demo_progress.h"

namespace banyan {

// Checks that all replicas are identical and that the test accuracy is at least `least_accuracy`, a part of 1.
// DATA_LOSS tells of replicas that differ, OUT_OF_RANGE names the accuracy that was expected and the one that was
// reached. REQUIRES: progress.all_finished().
absl::Status CheckTraining(const DemoProgress& progress, double least_accuracy);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_CHECK_H_
