#include "posix/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "posix/file_descriptor.h"

namespace banyan {

bool NotifyServiceManager(const std::string& socket, absl::string_view state) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (socket.empty() || socket.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  if (socket.front() == '@') address.sun_path[0] = '\0';
  const FileDescriptor sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
  return sendto(sender.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), size) ==
         static_cast<ssize_t>(state.size());
}

}  // namespace banyan
