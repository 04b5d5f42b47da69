// A `banyan demo` that runs beside a test, with all its processes, and what a test wants to know of it.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_RUNNING_DEMO_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_RUNNING_DEMO_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "posix/child_process.h"

namespace banyan {

// For whatever must happen, on a machine that does other things as well.
inline constexpr absl::Duration kDemoPatience = absl::Minutes(10);

// Starts `banyan` with these arguments. `name` is that of its log too.
std::unique_ptr<ChildProcess> StartBanyan(const std::string& name, std::vector<std::string> arguments);
std::unique_ptr<ChildProcess> StartDemo(const std::string& name, std::vector<std::string> arguments);

// Returns the processes that `parent` has started and that still run.
std::vector<pid_t> ChildrenOf(pid_t parent);
std::vector<pid_t> StillThere(const std::vector<pid_t>& processes);
// Waits until there are so many.
std::vector<pid_t> WaitForChildren(pid_t parent, size_t count);

// Waits until the process has logged this; returns whether it has. False too when it ends without.
bool WaitForLog(ChildProcess& process, absl::string_view text);

// Writes an overlay of three nodes in a row and returns its path; `rate` is YAML of its links.
std::string WriteOverlay(const std::string& name, const std::string& rate);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_RUNNING_DEMO_H_
