// Runs a program in a node of an emulated WAN.
#ifndef BANYAN_WAN_NODE_EXEC_H_
#define BANYAN_WAN_NODE_EXEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "wan/wan_client.h"

namespace banyan {

// Becomes that program, in the node's network namespace and with BANYAN_WAN_ID, BANYAN_WAN_NODE and BANYAN_WAN_ADDRESS
// in its environment. Where the system lets it, the host's name is the node's and the names of all nodes resolve.
// `node` is a name or an address. Returns only when that fails; the process may then be in the node's namespace
// already. It must have one thread.
absl::Status ExecInNode(const std::string& directory, const std::string& node,
                        const std::vector<std::string>& arguments);

// Enters the emulator's user namespace, unless this process is there: then it may make sockets in its nodes. The
// process must have one thread.
absl::Status EnterUserNamespace(const WanClient& client);

}  // namespace banyan

#endif  // BANYAN_WAN_NODE_EXEC_H_
