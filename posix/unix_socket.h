// AF_UNIX sockets that keep message boundaries (SOCK_SEQPACKET), with one file descriptor beside a message where
// needed. Free functions; thread-safe.
#ifndef BANYAN_POSIX_UNIX_SOCKET_H_
#define BANYAN_POSIX_UNIX_SOCKET_H_

#include <sys/types.h>

#include <cstddef>
#include <optional>
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

// A socket's file, to tell it from another one that has got its name later.
struct SocketFile {
  dev_t device = 0;
  ino_t inode = 0;  // which the next file may get again
  time_t made_s = 0;
  long made_ns = 0;
  mode_t mode = 0;
  uid_t owner = 0;

  bool IsSame(const SocketFile& other) const {
    return device == other.device && inode == other.inode && made_s == other.made_s && made_ns == other.made_ns;
  }
};

// Returns what is called so now; none when there is no such file.
std::optional<SocketFile> FindSocketFile(const std::string& path);
// Removes the file if it is still `own`, and nobody else's by now.
void RemoveSocketFile(const std::string& path, const std::optional<SocketFile>& own);

// Listens without blocking, for this user alone by default. A socket file that nobody listens on any more is replaced;
// FAILED_PRECONDITION when somebody does or may, or when the file is no socket. INVALID_ARGUMENT for a group that does
// not exist, PERMISSION_DENIED for one to which this user may not give a file.
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

// ---- the process at the other end ----

// Its children may hold the connection's socket as well, so that the end of the process is not the end of the
// connection.

// Returns a descriptor that can be read once the process that made the connection of `socket` has ended. Invalid where
// the kernel does not tell which one it is: then only the end of the connection shows it.
FileDescriptor WatchPeerProcess(int socket);

// Returns the same of this process, to be passed on to whoever cannot make one: the descriptor is sound for another
// namespace of processes as well. Invalid where the kernel has none (before Linux 5.3).
FileDescriptor OwnProcessWatch();

// Returns the number of the process that made the connection of `socket`; 0 where the kernel does not tell.
pid_t PeerProcess(int socket);

// Returns whether the process that `watch` watches has ended; false for an invalid one.
bool HasEnded(const FileDescriptor& watch);

bool IsUnixSocket(int socket);
// Returns whether `socket` is a unix socket at whose other end neither this process's user nor root is.
bool IsOfOtherUser(int socket);

}  // namespace banyan

#endif  // BANYAN_POSIX_UNIX_SOCKET_H_
