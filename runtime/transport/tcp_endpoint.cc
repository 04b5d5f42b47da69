#include "runtime/transport/tcp_endpoint.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

constexpr int kMostPort = 65535;

struct Place {
  std::string host;  // without brackets
  std::string port;
};

// Splits tcp://host:port.
std::optional<Place> PlaceOf(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "tcp://")) return std::nullopt;
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return std::nullopt;
  absl::string_view host = address.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  int port = 0;
  const absl::string_view digits = address.substr(colon + 1);
  if (!absl::SimpleAtoi(digits, &port) || port < 0 || port > kMostPort || host.empty()) return std::nullopt;
  return Place{std::string(host), std::string(digits)};
}

// The fault is one of getaddrinfo. Names are looked up unless `flags` forbid it.
int Resolve(const Place& place, int flags, std::vector<TcpEndpoint>& endpoints) {
  // The library would take it for every address.
  if (place.host == "*") return EAI_NONAME;
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICSERV | flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int fault = getaddrinfo(place.host.c_str(), place.port.c_str(), &hints, &first);
  if (fault != 0) return fault;
  const auto release = absl::MakeCleanup([first] { freeaddrinfo(first); });
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    char host[NI_MAXHOST] = {};
    if (getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    const TcpEndpoint endpoint{host, place.port, at->ai_family == AF_INET6};
    const bool is_known = std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end();
    if (!is_known) endpoints.push_back(endpoint);
  }
  return endpoints.empty() ? EAI_NONAME : 0;
}

absl::StatusOr<std::vector<TcpEndpoint>> LookUp(const std::string& address, int flags) {
  const std::optional<Place> place = PlaceOf(address);
  if (!place.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("expected tcp://host:port with a port up to 65535, got ", address));
  }
  std::vector<TcpEndpoint> endpoints;
  const int fault = Resolve(*place, flags, endpoints);
  if (fault == 0) return endpoints;
  return absl::UnavailableError(absl::StrCat("the host name ", place->host, " cannot be looked up: ",
                                             fault == EAI_SYSTEM ? strerror(errno) : gai_strerror(fault)));
}

// Waits until the connection stands or has failed; its errno.
int FinishConnect(int fd, absl::Duration patience) {
  pollfd item = {fd, POLLOUT, 0};
  if (poll(&item, 1, static_cast<int>(absl::ToInt64Milliseconds(patience))) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

std::string TcpEndpoint::Address() const {
  return is_ipv6 ? absl::StrCat("tcp://[", host, "]:", port) : absl::StrCat("tcp://", host, ":", port);
}

std::optional<std::string> TcpEndpoint::UnixAddress() const {
  if (host != "127.0.0.1" && host != "::1") return std::nullopt;
  return absl::StrCat("ipc://@banyan/", host, "/", port);
}

std::optional<TcpEndpoint> NumericEndpoint(const std::string& address) {
  const std::optional<Place> place = PlaceOf(address);
  std::vector<TcpEndpoint> endpoints;
  if (!place.has_value() || Resolve(*place, AI_NUMERICHOST, endpoints) != 0) return std::nullopt;
  return endpoints.front();
}

absl::StatusOr<std::vector<TcpEndpoint>> LookUpEndpoints(const std::string& address) { return LookUp(address, 0); }

absl::StatusOr<std::vector<TcpEndpoint>> LookUpListeners(const std::string& address) {
  const std::optional<Place> place = PlaceOf(address);
  if (place.has_value() && place->host == "*") {
    return std::vector<TcpEndpoint>{{"::", place->port, true}, {"0.0.0.0", place->port, false}};
  }
  return LookUp(address, AI_PASSIVE);
}

std::string WhyUnreachable(const TcpEndpoint& endpoint, absl::Duration patience) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* at = nullptr;
  const int fault = getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &hints, &at);
  if (fault != 0) return gai_strerror(fault);
  const auto release = absl::MakeCleanup([at] { freeaddrinfo(at); });
  const FileDescriptor fd(socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return strerror(errno);
  int error = connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = FinishConnect(fd.get(), patience);
  return error == 0 ? "" : strerror(error);
}

}  // namespace banyan
