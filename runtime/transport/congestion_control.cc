#include "runtime/transport/congestion_control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

#include "posix/file_descriptor.h"

namespace banyan {

std::string CongestionControlOf(int fd) {
  std::array<char, 17> name = {};
  socklen_t size = name.size() - 1;
  return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0 ? name.data() : "";
}

bool NewConnectionsAreLossLimited() {
  const FileDescriptor fresh(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return !fresh.valid() || CongestionControlOf(fresh.get()) != kBbr;
}

}  // namespace banyan
