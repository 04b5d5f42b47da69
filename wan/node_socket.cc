#include "wan/node_socket.h"

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <thread>

#include "absl/strings/str_cat.h"

namespace banyan {

absl::StatusOr<FileDescriptor> OpenSocketIn(const WanClient& client, const std::string& node, int type) {
  const absl::StatusOr<FileDescriptor> place = client.OpenNamespace(node);
  if (!place.ok()) return place.status();
  FileDescriptor made;
  int error = 0;
  // A namespace is a thread's.
  std::thread([&] {
    if (setns(place->get(), CLONE_NEWNET) == 0) made = FileDescriptor(socket(AF_INET, type | SOCK_CLOEXEC, 0));
    error = errno;
  }).join();
  if (made.valid()) return made;
  return absl::ErrnoToStatus(
      error, absl::StrCat("cannot make a socket in node ", node, "; run it as the user who started the emulated WAN"));
}

absl::StatusOr<sockaddr_in> BindSocketTo(int socket, const std::string& address) {
  sockaddr_in own = {};
  own.sin_family = AF_INET;
  socklen_t size = sizeof(own);
  if (inet_pton(AF_INET, address.c_str(), &own.sin_addr) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("expected an IPv4 address, got '", address, "'"));
  }
  if (bind(socket, reinterpret_cast<sockaddr*>(&own), size) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot bind a socket to ", address));
  }
  return own;
}

}  // namespace banyan
