// The processes that run in the nodes of an emulated WAN: each has the emulator's id in its environment, which it hands
// down to all that it starts. Unlike the number of a namespace, which the kernel gives out again, it names no other.
#ifndef BANYAN_WAN_WAN_PROCESSES_H_
#define BANYAN_WAN_WAN_PROCESSES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace banyan {

// The name of the environment variable.
inline constexpr char kWanIdVariable[] = "BANYAN_WAN_ID";

// All that this user may look at, but for this process.
std::vector<pid_t> FindWanProcesses(const std::string& id);

// Asks them to end, waits `patience` for it, kills what is left, and returns when all have gone or that long again has
// passed; then how many are still there.
int EndWanProcesses(const std::string& id, absl::Duration patience);

}  // namespace banyan

#endif  // BANYAN_WAN_WAN_PROCESSES_H_
