// A network of a test's own, in which loopback alone is. Function.
#ifndef BANYAN_RUNTIME_TESTING_OWN_NETWORK_H_
#define BANYAN_RUNTIME_TESTING_OWN_NETWORK_H_

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "posix/file_descriptor.h"

namespace banyan {

// Moves the process, of one thread, into a network namespace in which it has all rights, and stays there: once for all
// tests of a program, since there is no way into a second one. Returns whether the machine allows that.
inline bool EnterOwnNetwork() {
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

#endif  // BANYAN_RUNTIME_TESTING_OWN_NETWORK_H_
