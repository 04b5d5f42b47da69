// Sockets in the nodes of an emulated WAN, for a process that is not in one. Free functions; thread-safe.
#ifndef BANYAN_WAN_NODE_SOCKET_H_
#define BANYAN_WAN_NODE_SOCKET_H_

#include <netinet/in.h>

#include <string>

#include "absl/status/statusor.h"
#include "posix/file_descriptor.h"
#include "wan/wan_client.h"

namespace banyan {

// Makes an IPv4 socket of `type` (SOCK_STREAM, SOCK_DGRAM) in the node's network namespace; the caller's stays as it
// is. PERMISSION_DENIED without the right to enter it: see EnterUserNamespace in wan/node_exec.h.
absl::StatusOr<FileDescriptor> OpenSocketIn(const WanClient& client, const std::string& node, int type);

// Binds the socket to a free port of `address` and returns both.
absl::StatusOr<sockaddr_in> BindSocketTo(int socket, const std::string& address);

}  // namespace banyan

#endif  // BANYAN_WAN_NODE_SOCKET_H_
