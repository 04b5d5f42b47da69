#include "tools/doctor/tcp_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "runtime/transport/tcp_endpoint.h"

namespace banyan {
namespace {

constexpr int kBacklog = 64;

const sockaddr_in& Ipv4(const TcpAddress& address) { return reinterpret_cast<const sockaddr_in&>(address.storage); }
const sockaddr_in6& Ipv6(const TcpAddress& address) { return reinterpret_cast<const sockaddr_in6&>(address.storage); }

TcpAddress FromKernel(const sockaddr* from, socklen_t size) {
  TcpAddress address;
  address.size = std::min<socklen_t>(size, sizeof address.storage);
  std::memcpy(&address.storage, from, address.size);
  return address;
}

absl::Status StatusOf(int error, const std::string& what) {
  const std::string text = absl::StrCat(what, ": ", std::strerror(error));
  switch (error) {
    case ECONNREFUSED:
    case ECONNRESET:
      return absl::UnavailableError(text);
    case ETIMEDOUT:
      return absl::DeadlineExceededError(text);
    case EADDRINUSE:
      return absl::AlreadyExistsError(text);
    default:
      return absl::FailedPreconditionError(text);
  }
}

FileDescriptor NewSocket(const TcpAddress& address, int flags) {
  return FileDescriptor(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | flags, IPPROTO_TCP));
}

const sockaddr* AsKernel(const TcpAddress& address) { return reinterpret_cast<const sockaddr*>(&address.storage); }

// Its numbers as the kernel takes them.
TcpAddress AsSocketAddress(const TcpEndpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // It cannot fail for numbers that getaddrinfo itself has given.
  BANYAN_CHECK(getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &found) == 0);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  return FromKernel(found->ai_addr, found->ai_addrlen);
}

// Returns errno of a connection that is being made, 0 once it is there.
int FinishConnect(int fd, absl::Duration timeout) {
  pollfd wanted = {fd, POLLOUT, 0};
  if (poll(&wanted, 1, static_cast<int>(absl::ToInt64Milliseconds(timeout))) == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

bool TcpAddress::IsLoopback() const {
  if (storage.ss_family == AF_INET) return (ntohl(Ipv4(*this).sin_addr.s_addr) >> 24) == 127;
  return storage.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&Ipv6(*this).sin6_addr);
}

std::string TcpAddress::Host() const {
  std::array<char, NI_MAXHOST> host = {};
  const int error = getnameinfo(AsKernel(*this), size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : "?";
}

std::string TcpAddress::Text() const {
  const in_port_t port = IsIpv6() ? Ipv6(*this).sin6_port : Ipv4(*this).sin_port;
  return IsIpv6() ? absl::StrCat("[", Host(), "]:", ntohs(port)) : absl::StrCat(Host(), ":", ntohs(port));
}

absl::StatusOr<std::vector<TcpAddress>> LookUp(const std::string& address) {
  const absl::StatusOr<std::vector<TcpEndpoint>> endpoints = LookUpListeners(address);
  if (!endpoints.ok()) return endpoints.status();
  std::vector<TcpAddress> addresses;
  for (const TcpEndpoint& endpoint : *endpoints) addresses.push_back(AsSocketAddress(endpoint));
  return addresses;
}

absl::StatusOr<FileDescriptor> ConnectTcp(const TcpAddress& address, absl::Duration timeout) {
  FileDescriptor fd = NewSocket(address, SOCK_NONBLOCK);
  const std::string what = absl::StrCat("connecting to ", address.Text());
  if (!fd.valid()) return StatusOf(errno, what);
  if (connect(fd.get(), AsKernel(address), address.size) != 0) {
    const int error = errno == EINPROGRESS ? FinishConnect(fd.get(), timeout) : errno;
    if (error == ETIMEDOUT) {
      return absl::DeadlineExceededError(absl::StrCat(what, ": no answer within ", absl::FormatDuration(timeout)));
    }
    if (error != 0) return StatusOf(error, what);
  }
  return fd;
}

absl::StatusOr<FileDescriptor> ListenOnTcp(const TcpAddress& address) {
  FileDescriptor fd = NewSocket(address, SOCK_NONBLOCK);
  const std::string what = absl::StrCat("listening on ", address.Text());
  if (!fd.valid()) return StatusOf(errno, what);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), AsKernel(address), address.size) != 0 || listen(fd.get(), kBacklog) != 0) {
    return StatusOf(errno, what);
  }
  return fd;
}

TcpAddress OwnEnd(int fd) {
  TcpAddress address;
  address.size = sizeof address.storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) return {};
  return address;
}

TcpAddress OtherEnd(int fd) {
  TcpAddress address;
  address.size = sizeof address.storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) return {};
  return address;
}

std::vector<TcpAddress> InterfaceAddresses() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(found, &freeifaddrs);
  std::vector<TcpAddress> addresses;
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family == AF_INET) addresses.push_back(FromKernel(one->ifa_addr, sizeof(sockaddr_in)));
    if (family == AF_INET6) addresses.push_back(FromKernel(one->ifa_addr, sizeof(sockaddr_in6)));
  }
  return addresses;
}

}  // namespace banyan
