#include "runtime/http/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/http/bearer_token.h"
#include "runtime/http/http_answer.h"
#include "runtime/http/http_host.h"

namespace banyan {
namespace {

// So much can silent clients hold, and for so long.
constexpr unsigned kMostConnections = 16;
constexpr unsigned kTimeoutSeconds = 5;
// Of a request's headers, of a piece of its body, and of what waits to be sent to the client.
constexpr size_t kConnectionMemoryBytes = 16 << 10;

int QueueUnauthorized(MHD_Connection* connection) {
  // Basic, which makes browsers ask for it.
  return QueueText(connection, MHD_HTTP_UNAUTHORIZED, kPlainText,
                   "expected the token: `Authorization: Bearer TOKEN`, or as the password in a browser\n",
                   "Basic realm=\"banyan\"");
}

MHD_Result HandleRequest(void* server, MHD_Connection* connection, const char* path, const char* method, const char*,
                         const char* data, size_t* data_bytes, void** post) {
  auto* const self = static_cast<HttpServer*>(server);
  if (*post != nullptr) return static_cast<MHD_Result>(HttpPosts::Continue(connection, *post, data, data_bytes));
  *data_bytes = 0;
  return static_cast<MHD_Result>(self->Handle(connection, path, method, post));
}

void EndRequest(void*, MHD_Connection*, void** post, MHD_RequestTerminationCode) {
  if (*post != nullptr) HttpPosts::Close(*post);
  *post = nullptr;
}

void IgnoreLog(void*, const char*, va_list) {}

bool IsLoopback(const addrinfo& at) {
  if (at.ai_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(at.ai_addr)->sin6_addr);
  }
  return ntohl(reinterpret_cast<const sockaddr_in*>(at.ai_addr)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

MHD_Daemon* StartDaemon(const addrinfo& at, HttpServer* server) {
  // Without ITC the end of a server whose connections are all taken would wait for their timeout.
  const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
                         (at.ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
  return MHD_start_daemon(flags, 0, nullptr, nullptr, &HandleRequest, server, MHD_OPTION_EXTERNAL_LOGGER, &IgnoreLog,
                          nullptr, MHD_OPTION_NOTIFY_COMPLETED, &EndRequest, nullptr, MHD_OPTION_SOCK_ADDR, at.ai_addr,
                          MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutSeconds,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemoryBytes, MHD_OPTION_END);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Serve(const std::string& address, std::vector<HttpRoute> routes,
                                                              std::string token) {
  const size_t colon = address.rfind(':');
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(routes), std::move(token)));
  const absl::Status status = server->Start(address.substr(0, colon), address.substr(colon + 1));
  if (status.ok()) return server;
  return absl::UnavailableError(
      absl::StrCat("expected to serve HTTP at ", address,
                   ", could not: is the port free, and the host an address of this machine? (", status.message(), ")"));
}

absl::Status HttpServer::Start(const std::string& host, const std::string& port) {
  const bool everywhere = host == "*";
  const std::string name = host.front() == '[' ? host.substr(1, host.size() - 2) : host;
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = everywhere ? AF_INET : AF_UNSPEC;
  addrinfo* addresses = nullptr;
  const int error = getaddrinfo(everywhere ? nullptr : name.c_str(), port.c_str(), &hints, &addresses);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const auto release = absl::MakeCleanup([addresses] { freeaddrinfo(addresses); });
  is_loopback_ = IsLoopback(*addresses);
  errno = 0;
  server_ = StartDaemon(*addresses, this);
  if (server_ == nullptr) return absl::UnavailableError(strerror(errno));
  const MHD_DaemonInfo* bound = MHD_get_daemon_info(server_, MHD_DAEMON_INFO_BIND_PORT);
  url_ = absl::StrCat("http://", host, ":", bound->port);
  return absl::OkStatus();
}

const HttpRoute* HttpServer::FindRoute(absl::string_view path) const {
  for (const HttpRoute& route : routes_) {
    if (route.path == path) return &route;
    if (route.below != nullptr && absl::StartsWith(path, route.path)) return &route;
  }
  return nullptr;
}

bool HttpServer::IsAdmitted(MHD_Connection* connection, const HttpRoute* route) const {
  if (token_.empty() || (route != nullptr && route->is_for_all)) return true;
  return GivesToken(FindHeader(connection, MHD_HTTP_HEADER_AUTHORIZATION), token_);
}

int HttpServer::Handle(MHD_Connection* connection, absl::string_view path, absl::string_view method, void** post) {
  const bool is_post = method == MHD_HTTP_METHOD_POST;
  if (!is_post && method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
    return QueueText(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kPlainText, "expected GET, HEAD or POST\n");
  }
  const absl::string_view host = FindHeader(connection, MHD_HTTP_HEADER_HOST);
  if (is_loopback_ && !host.empty() && !IsAddressOrLocalhost(host)) {
    return QueueText(connection, MHD_HTTP_MISDIRECTED_REQUEST, kPlainText,
                     "expected the host that was asked for to be localhost or an address\n");
  }
  const HttpRoute* const route = FindRoute(path);
  const bool takes_posts = route != nullptr && route->post.has_value();
  if (is_post && takes_posts) return posts_.Begin(connection, &*route->post, post);
  if (!IsAdmitted(connection, route)) return QueueUnauthorized(connection);
  if (route == nullptr) return QueueNotFound(connection);
  if (is_post || takes_posts) {
    return QueueText(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kPlainText,
                     is_post ? "expected GET or HEAD\n" : "expected POST\n");
  }
  return Answer(connection, *route, path, method == MHD_HTTP_METHOD_HEAD);
}

int HttpServer::QueueNotFound(MHD_Connection* connection) const {
  const std::string paths =
      absl::StrJoin(routes_, ", ", [](std::string* out, const HttpRoute& known) { absl::StrAppend(out, known.path); });
  return QueueText(connection, MHD_HTTP_NOT_FOUND, kPlainText, absl::StrCat("expected one of ", paths, "\n"));
}

int HttpServer::Answer(MHD_Connection* connection, const HttpRoute& route, absl::string_view path, bool is_head) {
  if (route.below != nullptr) {
    const std::optional<HttpContent> answer = route.below(path.substr(route.path.size()));
    if (!answer.has_value()) return QueueNotFound(connection);
    return QueueText(connection, MHD_HTTP_OK, answer->content_type.c_str(), answer->body);
  }
  if (route.events == nullptr) {
    const HttpContent answer = route.answer();
    return QueueText(connection, MHD_HTTP_OK, answer.content_type.c_str(), answer.body);
  }
  constexpr char kEvents[] = "text/event-stream; charset=utf-8";
  if (is_head) return QueueText(connection, MHD_HTTP_OK, kEvents, "");
  MHD_Response* const response = streams_.Open(connection, &route.events);
  if (response != nullptr) return QueueResponse(connection, MHD_HTTP_OK, kEvents, response);
  return QueueText(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kPlainText,
                   absl::StrCat("expected at most ", EventStreams::kMostReaders, " readers of events at a time\n"));
}

HttpServer::~HttpServer() {
  streams_.End();
  posts_.End();
  if (server_ != nullptr) MHD_stop_daemon(server_);
}

}  // namespace banyan
