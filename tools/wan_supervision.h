// Looks after a program in a node of an emulated WAN: `banyan wan exec --restart`.
#ifndef BANYAN_TOOLS_WAN_SUPERVISION_H_
#define BANYAN_TOOLS_WAN_SUPERVISION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace banyan {

// Runs `program`, a command line, in the node and starts it again whenever it fails. OK when it has ended with exit
// code 0, or has been asked to end (SIGTERM), or this process has (also by Ctrl-C). It is recorded where `banyan chaos`
// looks for it. UNAVAILABLE when it has failed too often in a row. Blocking.
absl::Status SuperviseInNode(const std::string& directory, const std::string& node,
                             const std::vector<std::string>& program);

}  // namespace banyan

#endif  // BANYAN_TOOLS_WAN_SUPERVISION_H_
