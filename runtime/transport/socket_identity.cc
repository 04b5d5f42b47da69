#include "runtime/transport/socket_identity.h"

#include <sys/stat.h>

namespace banyan {

SocketIdentity::SocketIdentity(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  fd_ = fd;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

int SocketIdentity::Descriptor() const {
  struct stat info = {};
  const bool is_same =
      fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_ && S_ISSOCK(info.st_mode);
  return is_same ? fd_ : -1;
}

}  // namespace banyan
