#include "runtime/http/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
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

// So much can clients hold, and silent ones for so long.
constexpr size_t kMostConnections = 24;
constexpr unsigned kTimeoutSeconds = 5;
// That make room, and that come meanwhile.
constexpr unsigned kMostLeaving = 16;
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

void* PeerOf(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void EndRequest(void* server, MHD_Connection* connection, void** post, MHD_RequestTerminationCode) {
  if (*post != nullptr) HttpPosts::Close(*post);
  *post = nullptr;
  static_cast<HttpServer*>(server)->OnAnswered(PeerOf(connection));
}

void NotifyConnection(void* server, MHD_Connection* connection, void** peer, MHD_ConnectionNotificationCode code) {
  auto* const self = static_cast<HttpServer*>(server);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    *peer = self->OnConnected(connection);
  } else {
    self->OnClosed(*peer);
  }
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
                          nullptr, MHD_OPTION_NOTIFY_COMPLETED, &EndRequest, server, MHD_OPTION_NOTIFY_CONNECTION,
                          &NotifyConnection, server, MHD_OPTION_SOCK_ADDR, at.ai_addr, MHD_OPTION_CONNECTION_LIMIT,
                          static_cast<unsigned>(kMostConnections) + kMostLeaving, MHD_OPTION_CONNECTION_TIMEOUT,
                          kTimeoutSeconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemoryBytes, MHD_OPTION_END);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Serve(const std::string& address, std::vector<HttpRoute> routes,
                                                              HttpAccess access) {
  const size_t colon = address.rfind(':');
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(routes), std::move(access)));
  const std::string host = address.substr(0, colon);
  server->own_names_.push_back(host);
  char own[HOST_NAME_MAX + 1] = {};
  if (gethostname(own, HOST_NAME_MAX) == 0) server->own_names_.emplace_back(own);
  const absl::Status status = server->Start(host, address.substr(colon + 1));
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
  if (access_.token == nullptr || (route != nullptr && route->is_for_all)) return true;
  const absl::string_view authorization = FindHeader(connection, MHD_HTTP_HEADER_AUTHORIZATION);
  const std::string token = access_.token();
  if (!token.empty() && GivesToken(authorization, token)) return true;
  // A browser's first try has none.
  if (access_.on_wrong_token && !authorization.empty()) access_.on_wrong_token(PeerHost(connection));
  return false;
}

bool HttpServer::IsMisdirected(absl::string_view host) const {
  // Who has given a token is no page of another site.
  if (!is_loopback_ && access_.token != nullptr) return false;
  return !host.empty() && !IsAddressOrLocalhost(host) && !IsAmong(host, access_.hosts) && !IsAmong(host, own_names_);
}

void* HttpServer::OnConnected(MHD_Connection* connection) {
  MakeRoom();
  peers_.emplace_back();
  Peer& peer = peers_.back();
  peer.host = PeerHost(connection);
  peer.fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  return &peer;
}

void HttpServer::OnAnswered(void* peer) {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [peer](const Peer& known) { return &known == peer; });
  found->is_answered = false;
  found->is_kept = false;
  peers_.splice(peers_.end(), peers_, found);
}

void HttpServer::OnClosed(void* peer) {
  peers_.remove_if([peer](const Peer& known) { return &known == peer; });
}

void HttpServer::MakeRoom() {
  const auto stays = [](const Peer& peer) { return !peer.is_leaving; };
  if (static_cast<size_t>(std::count_if(peers_.begin(), peers_.end(), stays)) < kMostConnections) return;
  for (const bool is_answered : {false, true}) {
    std::map<absl::string_view, size_t> of_host;
    for (const Peer& peer : peers_) {
      if (stays(peer) && !peer.is_kept && peer.is_answered == is_answered) ++of_host[peer.host];
    }
    if (of_host.empty()) continue;
    const auto most = std::max_element(of_host.begin(), of_host.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto oldest = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& peer) {
      return stays(peer) && !peer.is_kept && peer.is_answered == is_answered && peer.host == most->first;
    });
    // The library sees its end, and closes it.
    shutdown(oldest->fd, SHUT_RDWR);
    oldest->is_leaving = true;
    return;
  }
}

int HttpServer::Handle(MHD_Connection* connection, absl::string_view path, absl::string_view method, void** post) {
  Peer& peer = *static_cast<Peer*>(PeerOf(connection));
  peer.is_answered = true;
  const bool is_post = method == MHD_HTTP_METHOD_POST;
  if (!is_post && method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
    return QueueText(connection, MHD_HTTP_METHOD_NOT_ALLOWED, kPlainText, "expected GET, HEAD or POST\n");
  }
  const HttpRoute* const route = FindRoute(path);
  const bool is_for_all = route != nullptr && route->is_for_all;
  if (!is_for_all && IsMisdirected(FindHeader(connection, MHD_HTTP_HEADER_HOST))) {
    return QueueText(connection, MHD_HTTP_MISDIRECTED_REQUEST, kPlainText,
                     "expected the host that was asked for to be localhost, an address, this machine's name, or one "
                     "that --http-host says\n");
  }
  const bool takes_posts = route != nullptr && route->post.has_value();
  if (is_post && takes_posts) {
    const int result = posts_.Begin(connection, &*route->post, access_, post);
    peer.is_kept = *post != nullptr;
    return result;
  }
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
  if (response != nullptr) {
    static_cast<Peer*>(PeerOf(connection))->is_kept = true;
    // A proxy would keep events until they fill its buffer.
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    return QueueResponse(connection, MHD_HTTP_OK, kEvents, response);
  }
  return QueueText(connection, MHD_HTTP_SERVICE_UNAVAILABLE, kPlainText,
                   absl::StrCat("expected at most ", EventStreams::kMostReaders, " readers of events at a time\n"));
}

HttpServer::~HttpServer() {
  streams_.End();
  posts_.End();
  if (server_ != nullptr) MHD_stop_daemon(server_);
}

}  // namespace banyan
