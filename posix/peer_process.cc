#include "posix/peer_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace banyan {
namespace {

// Linux 6.5 and later; Debian's headers are older.
constexpr int kPeerPidfd = 77;

}  // namespace

FileDescriptor WatchPeerProcess(int socket) {
  int watch = -1;
  socklen_t size = sizeof(watch);
  if (getsockopt(socket, SOL_SOCKET, kPeerPidfd, &watch, &size) == 0) return FileDescriptor(watch);
  // The process may have ended and another one have its number: only until this answers, while it has just connected.
  const pid_t peer = PeerProcess(socket);
  return peer > 0 ? FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, peer, 0))) : FileDescriptor();
}

FileDescriptor OwnProcessWatch() { return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0))); }

pid_t PeerProcess(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

bool HasEnded(const FileDescriptor& watch) {
  if (!watch.valid()) return false;
  pollfd item = {watch.get(), POLLIN, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & POLLIN) != 0;
}

}  // namespace banyan
