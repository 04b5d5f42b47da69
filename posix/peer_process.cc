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
  ucred peer = {};
  size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return FileDescriptor();
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)));
}

bool HasEnded(const FileDescriptor& watch) {
  if (!watch.valid()) return false;
  pollfd item = {watch.get(), POLLIN, 0};
  return poll(&item, 1, 0) == 1 && (item.revents & POLLIN) != 0;
}

}  // namespace banyan
