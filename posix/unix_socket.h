// AF_UNIX sockets that keep message boundaries (SOCK_SEQPACKET), with one file descriptor beside a message where
// needed. Free functions; thread-safe.
#ifndef BANYAN_POSIX_UNIX_SOCKET_H_
#define BANYAN_POSIX_UNIX_SOCKET_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "posix/file_descriptor.h"

namespace banyan {

// Of "unix:/path". INVALID_ARGUMENT for anything else and for paths that do not fit into a socket address.
absl::StatusOr<std::string> UnixPathOf(absl::string_view address);

// Who may connect to a socket beside the user that listens.
struct SocketAccess {
  bool has_group = false;  // the file's group: that of the process, or of a directory that hands its own on
  std::string group = {};  // the file gets this one, a name or a number; empty: as above
};

// Listens without blocking, for this user alone by default. A socket file that nobody listens on any more is replaced;
// FAILED_PRECONDITION when somebody does, or when the file is no socket. INVALID_ARGUMENT for a group that does not
// exist, PERMISSION_DENIED for one to which this user may not give a file.
absl::StatusOr<FileDescriptor> ListenOnUnix(const std::string& path, const SocketAccess& access = {});
// UNAVAILABLE when nobody listens there yet. PERMISSION_DENIED says which user and group may connect.
absl::StatusOr<FileDescriptor> ConnectToUnix(const std::string& path);

enum class PacketResult {
  kDone,
  kWouldBlock,
  kClosed,  // by the other side, or broken
};

// Sends `bytes` whole, and `file` beside them unless it is -1.
PacketResult SendPacket(int socket, absl::string_view bytes, int file, bool may_block);

struct Packet {
  std::string bytes;
  bool truncated = false;  // it was longer than the limit; `bytes` is its beginning
  FileDescriptor file;     // invalid when none came
};

PacketResult ReceivePacket(int socket, size_t max_bytes, bool may_block, Packet& packet);

}  // namespace banyan

#endif  // BANYAN_POSIX_UNIX_SOCKET_H_
