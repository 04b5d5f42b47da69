// Runs a program in a node of an emulated WAN, or opens sockets there for a process that is not in one.
#ifndef BANYAN_WAN_NODE_EXEC_H_
#define BANYAN_WAN_NODE_EXEC_H_

#include <netinet/in.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
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

// Makes an IPv4 socket of `type` (SOCK_STREAM, SOCK_DGRAM) in the node's network namespace; the caller's stays as it
// is. PERMISSION_DENIED without the right to enter it: see EnterUserNamespace. Thread-safe.
absl::StatusOr<FileDescriptor> OpenSocketIn(const WanClient& client, const std::string& node, int type);

// Binds the socket to a free port of `address` and returns both.
absl::StatusOr<sockaddr_in> BindSocketTo(int socket, const std::string& address);

}  // namespace banyan

#endif  // BANYAN_WAN_NODE_EXEC_H_
