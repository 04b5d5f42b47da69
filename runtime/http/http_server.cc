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
#include "runtime/http/http_host.h"

namespace banyan {
namespace {

// So much can silent clients hold, and for so long.
constexpr unsigned kMostConnections = 16;
constexpr unsigned kTimeoutSeconds = 5;
// What a client may send, which is no more than a request's headers; and what waits to be sent to it.
constexpr size_t kConnectionMemoryBytes = 16 << 10;
constexpr char kText[] = "text/plain; charset=utf-8";

// What a browser may do with an answer: nothing that comes from elsewhere, nor show it inside another page.
constexpr const char* kHeaders[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

// Consumes `response`, which may be nullptr.
int Queue(MHD_Connection* connection, unsigned code, const char* content_type, MHD_Response* response) {
  if (response == nullptr) return MHD_NO;
  const auto release = absl::MakeCleanup([response] { MHD_destroy_response(response); });
  if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_NO) return MHD_NO;
  for (const auto& [name, value] : kHeaders) {
    if (MHD_add_response_header(response, name, value) == MHD_NO) return MHD_NO;
  }
  return MHD_queue_response(connection, code, response);
}

// Copies `body`.
MHD_Response* MakeResponse(absl::string_view body) {
  return MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
}

int QueueText(MHD_Connection* connection, unsigned code, const char* content_type, absl::string_view body) {
  return Queue(connection, code, content_type, MakeResponse(body));
}

int QueueUnauthorized(MHD_Connection* connection) {
  MHD_Response* const response =
      MakeResponse("expected the token: `Authorization: Bearer TOKEN`, or as the password in a browser\n");
  // Basic, which makes browsers ask for it.
  const bool is_whole = response != nullptr && MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                                                       "Basic realm=\"banyan\"") == MHD_YES;
  if (response != nullptr && !is_whole) MHD_destroy_response(response);
  return is_whole ? Queue(connection, MHD_HTTP_UNAUTHORIZED, kText, response) : MHD_NO;
}

MHD_Result HandleRequest(void* server, MHD_Connection* connection, const char* path, const char* method, const char*,
                         const char*, size_t* upload_size_bytes, void**) {
  *upload_size_bytes = 0;
  return static_cast<MHD_Result>(static_cast<HttpServer*>(server)->Handle(connection, path, method));
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
                          nullptr, MHD_OPTION_SOCK_ADDR, at.ai_addr, MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
                          MHD_OPTION_CONNECTION_TIMEOUT, kTimeoutSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                          kConnectionMemoryBytes, MHD_OPTION_END);
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
  const char* given = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
  return given != nullptr && GivesToken(given, token_);
}

int HttpServer::Handle(MHD_Connection* connection, absl::string_view path, absl::string_view method) {
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
    return QueueText(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kText, "expected GET or HEAD\n");
  }
  const char* host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
  if (is_loopback_ && host != nullptr && !IsAddressOrLocalhost(host)) {
    return QueueText(connection, MHD_HTTP_MISDIRECTED_REQUEST, kText,
                     "expected the host that was asked for to be localhost or an address\n");
  }
  const HttpRoute* const route = FindRoute(path);
  if (!IsAdmitted(connection, route)) return QueueUnauthorized(connection);
  return route == nullptr ? QueueNotFound(connection)
                          : Answer(connection, *route, path, method == MHD_HTTP_METHOD_HEAD);
}

int HttpServer::QueueNotFound(MHD_Connection* connection) const {
  const std::string paths =
      absl::StrJoin(routes_, ", ", [](std::string* out, const HttpRoute& known) { absl::StrAppend(out, known.path); });
  return QueueText(connection, MHD_HTTP_NOT_FOUND, kText, absl::StrCat("expected one of ", paths, "\n"));
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
  if (response != nullptr) return Queue(connection, MHD_HTTP_OK, kEvents, response);
  return QueueText(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kText,
                   absl::StrCat("expected at most ", EventStreams::kMostReaders, " readers of events at a time\n"));
}

HttpServer::~HttpServer() {
  streams_.End();
  if (server_ != nullptr) MHD_stop_daemon(server_);
}

}  // namespace banyan
