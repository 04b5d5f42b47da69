#include "posix/unix_socket.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr absl::string_view kScheme = "unix:";
constexpr int kBacklog = 64;
// More than a well-behaved peer ever sends beside one message, so that none of them leaks.
constexpr int kMaxFiles = 16;

absl::Status CheckPath(const std::string& path) {
  if (!path.empty() && path.size() < sizeof(sockaddr_un::sun_path) && path.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a socket's path has 1 to ", sizeof(sockaddr_un::sun_path) - 1,
                                                 " bytes, '", path, "' has ", path.size(), "; choose another one"));
}

// REQUIRES: CheckPath(path) is OK.
sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

FileDescriptor NewSocket(int flags) {
  return FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

int ConnectSocket(int socket, const std::string& path) {
  const sockaddr_un address = AddressOf(path);
  return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

// The process that listens where `probe` has just connected to.
std::string ListenerOf(const FileDescriptor& probe) {
  const pid_t listener = PeerProcess(probe.get());
  return listener > 0 ? absl::StrCat("process ", listener) : "another process";
}

// Removes the socket file of a process that listens no more. Whatever does not say clearly that nobody listens means
// that somebody does: workers of a live node would find it no more.
absl::Status RemoveStale(const std::string& path) {
  const std::optional<SocketFile> found = FindSocketFile(path);
  if (!found.has_value()) return absl::OkStatus();
  const auto in_use = [&path](absl::string_view why) {
    return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", path, ": ", why));
  };
  if (!S_ISSOCK(found->mode)) return in_use("a file that is no socket is there");
  const FileDescriptor probe = NewSocket(SOCK_NONBLOCK);
  if (!probe.valid()) return absl::ErrnoToStatus(errno, "cannot make a socket");
  if (ConnectSocket(probe.get(), path) == 0) return in_use(absl::StrCat(ListenerOf(probe), " does"));
  if (errno == EAGAIN) return in_use("another process does");
  if (errno != ECONNREFUSED) {
    return in_use(absl::StrCat("user ", found->owner, " has made a socket there, and this process may not ask which ",
                               "process listens (", std::strerror(errno),
                               "); choose another path, or remove it if no process does"));
  }
  // Only its maker sees a socket without any mode: it does not listen yet.
  if ((found->mode & 0777) == 0) return in_use("another process is about to; if none is, remove the file");
  // Another process may have put its own in the place of the one that was asked.
  const std::string aside = absl::StrCat(path, ".old");
  if (rename(path.c_str(), aside.c_str()) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove the old socket ", path));
  }
  if (const std::optional<SocketFile> taken = FindSocketFile(aside); taken.has_value() && !taken->IsSame(*found)) {
    renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE);
    return in_use("another process does");
  }
  unlink(aside.c_str());
  return absl::OkStatus();
}

// Looks a group up by name or number.
absl::StatusOr<gid_t> FindGroup(const std::string& group) {
  uint32_t number = 0;
  if (absl::SimpleAtoi(group, &number)) return number;
  std::vector<char> memory(1 << 16);
  ::group entry = {};
  ::group* found = nullptr;
  if (getgrnam_r(group.c_str(), &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr) {
    return entry.gr_gid;
  }
  return absl::InvalidArgumentError(absl::StrCat("no group is called '", group, "'"));
}

std::string GroupName(gid_t group) {
  std::vector<char> memory(1 << 16);
  ::group entry = {};
  ::group* found = nullptr;
  const bool has_name = getgrgid_r(group, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr;
  return has_name ? absl::StrCat(entry.gr_name, " (", group, ")") : absl::StrCat(group);
}

absl::Status GiveAccess(const std::string& path, const SocketAccess& access) {
  if (!access.group.empty()) {
    const absl::StatusOr<gid_t> group = FindGroup(access.group);
    if (!group.ok()) return group.status();
    if (chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot give ", path, " to group ", access.group, "; is user ",
                                                     geteuid(), " a member of it?"));
    }
  }
  const bool is_shared = access.has_group || !access.group.empty();
  if (chmod(path.c_str(), is_shared ? 0660 : 0600) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot set the mode of ", path));
}

// Who may connect where this process may not.
std::string AccessAdvice(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return absl::StrCat("; user ", geteuid(), " may not enter the directory that it is in");
  }
  const std::string users = absl::StrCat("; user ", info.st_uid);
  if ((info.st_mode & S_IWGRP) == 0) return absl::StrCat(users, " alone may, this process is of user ", geteuid());
  return absl::StrCat(users, " may, and members of group ", GroupName(info.st_gid), "; this process is of user ",
                      geteuid(), ", group ", GroupName(getegid()));
}

// Takes all descriptors that came, keeps the first and closes the others.
FileDescriptor TakeFile(msghdr& message) {
  FileDescriptor first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      FileDescriptor file(fd);
      if (!first.valid()) first = std::move(file);
    }
  }
  return first;
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

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

absl::StatusOr<std::string> UnixPathOf(absl::string_view address) {
  if (address.substr(0, kScheme.size()) != kScheme || address.size() == kScheme.size()) {
    return absl::InvalidArgumentError(absl::StrCat("expected unix:/path, got '", address, "'"));
  }
  std::string path(address.substr(kScheme.size()));
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  return path;
}

std::optional<SocketFile> FindSocketFile(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return std::nullopt;
  return SocketFile{info.st_dev, info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_mode, info.st_uid};
}

void RemoveSocketFile(const std::string& path, const std::optional<SocketFile>& own) {
  const std::optional<SocketFile> found = FindSocketFile(path);
  if (own.has_value() && found.has_value() && found->IsSame(*own)) unlink(path.c_str());
}

absl::StatusOr<FileDescriptor> ListenOnUnix(const std::string& path, const SocketAccess& access) {
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  if (absl::Status status = RemoveStale(path); !status.ok()) return status;
  FileDescriptor listener = NewSocket(SOCK_NONBLOCK);
  const sockaddr_un address = AddressOf(path);
  // The file begins without any mode, see RemoveStale.
  if (!listener.valid() || fchmod(listener.get(), 0) != 0 ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot listen on ", path));
  }
  absl::Status status;
  if (listen(listener.get(), kBacklog) != 0) {
    status = absl::ErrnoToStatus(errno, absl::StrCat("cannot listen on ", path));
  }
  if (status.ok()) status = GiveAccess(path, access);
  if (status.ok()) return listener;
  unlink(path.c_str());
  return status;
}

absl::StatusOr<FileDescriptor> ConnectToUnix(const std::string& path) {
  if (absl::Status status = CheckPath(path); !status.ok()) return status;
  FileDescriptor socket = NewSocket(0);
  if (!socket.valid()) return absl::ErrnoToStatus(errno, "cannot make a socket");
  if (ConnectSocket(socket.get(), path) == 0) return socket;
  if (errno == ENOENT || errno == ECONNREFUSED || errno == EINTR || errno == EAGAIN) {
    return absl::UnavailableError(absl::StrCat("no node listens on ", path, ": ", std::strerror(errno)));
  }
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             absl::StrCat("cannot connect to ", path, error == EACCES ? AccessAdvice(path) : ""));
}

PacketResult SendPacket(int socket, absl::string_view bytes, int file, bool may_block) {
  iovec data = {const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &file, sizeof(int));
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL | (may_block ? 0 : MSG_DONTWAIT));
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return PacketResult::kDone;
  return WouldBlock() ? PacketResult::kWouldBlock : PacketResult::kClosed;
}

PacketResult ReceivePacket(int socket, size_t max_bytes, bool may_block, Packet& packet) {
  packet = Packet();
  // Not cleared: most messages are far below the limit.
  const std::unique_ptr<char[]> room(new char[max_bytes]);
  iovec data = {room.get(), max_bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFiles)] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = -1;
  // Where the other side left messages unread, its end comes as one error, and what it said last behind that.
  bool was_reset = false;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (may_block ? 0 : MSG_DONTWAIT));
  } while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(was_reset, true))));
  if (got < 0) return WouldBlock() ? PacketResult::kWouldBlock : PacketResult::kClosed;
  packet.file = TakeFile(message);
  packet.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  packet.bytes.assign(room.get(), got);
  // Nobody who speaks this protocol sends an empty message: it is the end.
  return got == 0 ? PacketResult::kClosed : PacketResult::kDone;
}

bool IsUnixSocket(int socket) {
  int domain = 0;
  socklen_t size = sizeof(domain);
  return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

bool IsOfOtherUser(int socket) {
  if (!IsUnixSocket(socket)) return false;
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return true;
  return peer.uid != geteuid() && peer.uid != 0;
}

}  // namespace banyan
