// One demo from its start to its end, in a network that is there: starts the job, shows its progress, stops it.
// Blocking; use from the main thread.
#ifndef BANYAN_TOOLS_DEMO_DEMO_RUN_H_
#define BANYAN_TOOLS_DEMO_DEMO_RUN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "posix/stop_signals.h"
#include "posix/work_directory.h"
#include "tools/demo/demo_job.h"
#include "tools/demo/demo_network.h"
#include "tools/demo/demo_network_state.h"
#include "tools/demo/demo_progress.h"
#include "tools/demo/demo_screen.h"
#include "tools/supervision/running_job.h"

namespace banyan {

struct DemoResult {
  DemoProgress progress;
  DemoNetworkState network;
};

// Returns a demo as `banyan chaos` sees it.
RunningJob DemoAsRunningJob(const DemoJobOptions& options, const DemoNetwork& network, const WorkDirectory& directory);

// Returns what the training has come to. CANCELLED when a signal has ended it; UNAVAILABLE, with the end of its log,
// when a process failed again and again. The directory has what `banyan chaos` looks for meanwhile. Nothing that it
// started runs any more when it returns.
absl::StatusOr<DemoResult> RunDemo(const DemoJobOptions& options, int64_t rounds, const StopSignals& signals,
                                   const DemoNetwork& network, const WorkDirectory& directory, DemoScreen& screen);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DEMO_DEMO_RUN_H_
