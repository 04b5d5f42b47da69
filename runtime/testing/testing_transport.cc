#include "runtime/testing/testing_transport.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "absl/strings/numbers.h"

namespace banyan {

FileDescriptor ConnectByTcp(const std::string& address) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return made;
}

bool EnterOwnNetwork() {
  static const bool has_entered = [] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const FileDescriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq loopback = {};
    std::strncpy(loopback.ifr_name, "lo", IFNAMSIZ - 1);
    loopback.ifr_flags = IFF_UP;
    return ioctl(any.get(), SIOCSIFFLAGS, &loopback) == 0;
  }();
  return has_entered;
}

}  // namespace banyan
