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
#include <chrono>
#include <climits>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/http/request_checks.h"

namespace banyan {

// ---- answers ----

namespace {

constexpr char kPlainText[] = "text/plain; charset=utf-8";

// Each answer leaves with these. What a browser may do with it: nothing that comes from elsewhere, nor show it inside
// another page.
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

// Queues `response`, which it consumes and which may be nullptr, and returns the MHD_Result.
int QueueResponse(MHD_Connection* connection, unsigned code, const char* content_type, MHD_Response* response) {
  if (response == nullptr) return MHD_NO;
  const auto release = absl::MakeCleanup([response] { MHD_destroy_response(response); });
  if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) == MHD_NO) return MHD_NO;
  for (const auto& [name, value] : kHeaders) {
    if (MHD_add_response_header(response, name, value) == MHD_NO) return MHD_NO;
  }
  return MHD_queue_response(connection, code, response);
}

// The same of a copy of `body`. `challenge`, if it is not nullptr, tells what the client is to authenticate itself
// with.
int QueueText(MHD_Connection* connection, unsigned code, const char* content_type, absl::string_view body,
              const char* challenge = nullptr) {
  MHD_Response* const response =
      MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY);
  if (response != nullptr && challenge != nullptr &&
      MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, challenge) == MHD_NO) {
    MHD_destroy_response(response);
    return MHD_NO;
  }
  return QueueResponse(connection, code, content_type, response);
}

// Returns the value of that header; empty without one.
absl::string_view FindHeader(MHD_Connection* connection, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? absl::string_view() : absl::string_view(value);
}

// Returns the address of who asks, without a port.
std::string PeerHost(MHD_Connection* connection) {
  const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  char host[INET6_ADDRSTRLEN] = "?";
  if (info == nullptr || info->client_addr == nullptr) return host;
  if (info->client_addr->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(info->client_addr)->sin6_addr, host, sizeof(host));
  } else {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(info->client_addr)->sin_addr, host, sizeof(host));
  }
  return host;
}

}  // namespace

// ---- event streams ----

namespace {

// Of the connection's memory at a time.
constexpr size_t kBlockBytes = 4096;

}  // namespace

MHD_Response* EventStreams::Open(MHD_Connection* connection, const EventSource* source) {
  auto reader = std::make_unique<Reader>();
  reader->streams = this;
  reader->connection = connection;
  reader->source = source;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (readers_.size() >= kMostReaders) return nullptr;
  MHD_Response* response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlockBytes, &Read, reader.get(), &Close);
  if (response != nullptr) readers_.insert(reader.release());
  return response;
}

long EventStreams::Read(void* reader, uint64_t, char* out, size_t size) {
  auto* const self = static_cast<Reader*>(reader);
  return self->streams->ReadNext(*self, out, size);
}

long EventStreams::ReadNext(Reader& reader, char* out, size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return MHD_CONTENT_READER_END_OF_STREAM;
  if (reader.sent_bytes == reader.piece.size()) {
    reader.piece = (*reader.source)(reader.place);
    reader.sent_bytes = 0;
  }
  if (reader.piece.empty()) {
    MHD_suspend_connection(reader.connection);
    reader.waits = true;
    return 0;
  }
  const size_t count = std::min(size, reader.piece.size() - reader.sent_bytes);
  memcpy(out, reader.piece.data() + reader.sent_bytes, count);
  reader.sent_bytes += count;
  return static_cast<long>(count);
}

void EventStreams::Close(void* reader) {
  const std::unique_ptr<Reader> self(static_cast<Reader*>(reader));
  const std::lock_guard<std::mutex> lock(self->streams->mutex_);
  self->streams->readers_.erase(self.get());
}

void EventStreams::WakeAll() {
  for (Reader* reader : readers_) {
    if (!reader->waits) continue;
    reader->waits = false;
    MHD_resume_connection(reader->connection);
  }
}

void EventStreams::Wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  WakeAll();
}

void EventStreams::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  WakeAll();
}

size_t EventStreams::readers() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return readers_.size();
}

// ---- posts ----

namespace {

// For answers to leave at the server's end.
constexpr std::chrono::seconds kFarewell(1);

int Refuse(MHD_Connection* connection, const HttpPostRoute& route, unsigned code, absl::string_view why) {
  const HttpContent content = route.refusal(why);
  // Not Basic: a browser would ask for it by itself, and add it to what other pages make it send.
  const char* const challenge = code == MHD_HTTP_UNAUTHORIZED ? "Bearer realm=\"banyan\"" : nullptr;
  return QueueText(connection, code, content.content_type.c_str(), content.body, challenge);
}

}  // namespace

struct HttpPosts::Shared {
  std::mutex mutex;
  std::condition_variable closed;
  std::set<Post*> posts;   // guarded by mutex; each is owned by its request and by those who may answer it
  bool has_ended = false;  // guarded by mutex
};

struct HttpPosts::Post {
  std::shared_ptr<Shared> shared;
  MHD_Connection* connection = nullptr;
  const HttpPostRoute* route = nullptr;
  std::weak_ptr<Post> self;
  std::string sender;
  std::string body;
  bool is_taken = false;  // guarded by the mutex, as are the next two
  bool is_suspended = false;
  std::optional<PostAnswer> answer;
};

HttpPosts::HttpPosts() : shared_(std::make_shared<Shared>()) {}

HttpPosts::~HttpPosts() = default;

int HttpPosts::Begin(MHD_Connection* connection, const HttpPostRoute* route, const HttpAccess& access, void** post) {
  const auto refuse = [&](unsigned code, absl::string_view why) { return Refuse(connection, *route, code, why); };
  const absl::string_view origin = FindHeader(connection, MHD_HTTP_HEADER_ORIGIN);
  if (!IsSameOrigin(origin, FindHeader(connection, MHD_HTTP_HEADER_HOST), access.hosts)) {
    return refuse(
        MHD_HTTP_FORBIDDEN,
        "expected a page of this server to ask, or a program; another site's did. Behind a proxy, say the name "
        "of its site with --http-host");
  }
  const absl::string_view authorization = FindHeader(connection, MHD_HTTP_HEADER_AUTHORIZATION);
  absl::StatusOr<std::string> sender = route->admit(authorization);
  if (!sender.ok()) {
    if (access.on_wrong_token && !authorization.empty()) access.on_wrong_token(PeerHost(connection));
    return refuse(absl::IsUnauthenticated(sender.status()) ? MHD_HTTP_UNAUTHORIZED : MHD_HTTP_FORBIDDEN,
                  sender.status().message());
  }
  size_t bytes = 0;
  if (!absl::SimpleAtoi(FindHeader(connection, MHD_HTTP_HEADER_CONTENT_LENGTH), &bytes)) {
    return refuse(MHD_HTTP_LENGTH_REQUIRED, "expected the header Content-Length");
  }
  if (bytes > route->most_bytes) {
    return refuse(MHD_HTTP_CONTENT_TOO_LARGE,
                  absl::StrCat("expected at most ", route->most_bytes, " bytes, got ", bytes));
  }
  auto made = std::make_shared<Post>();
  *made = {shared_, connection, route, made, *std::move(sender), {}, false, false, std::nullopt};
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  if (shared_->posts.size() >= kMostPosts) {
    return refuse(MHD_HTTP_SERVICE_UNAVAILABLE, absl::StrCat("expected at most ", kMostPosts, " posts at a time"));
  }
  shared_->posts.insert(made.get());
  *post = new std::shared_ptr<Post>(std::move(made));
  return MHD_YES;
}

int HttpPosts::Continue(MHD_Connection* connection, void* post, const char* data, size_t* data_bytes) {
  Post& self = **static_cast<std::shared_ptr<Post>*>(post);
  if (*data_bytes > 0) {
    // The header may have lied.
    if (self.body.size() + *data_bytes > self.route->most_bytes) return MHD_NO;
    self.body.append(data, std::exchange(*data_bytes, 0));
    return MHD_YES;
  }
  Take(self);
  const std::lock_guard<std::mutex> lock(self.shared->mutex);
  if (!self.answer.has_value()) {
    MHD_suspend_connection(connection);
    self.is_suspended = true;
    return MHD_YES;
  }
  const HttpContent& content = self.answer->content;
  return QueueText(connection, self.answer->code, content.content_type.c_str(), content.body);
}

void HttpPosts::Take(Post& post) {
  {
    const std::lock_guard<std::mutex> lock(post.shared->mutex);
    if (std::exchange(post.is_taken, true)) return;
    if (post.shared->has_ended) {
      post.answer = {MHD_HTTP_SERVICE_UNAVAILABLE, post.route->refusal("the server ends")};
      return;
    }
  }
  // Who answers keeps the post, but not the request.
  post.route->take(post.sender, std::move(post.body),
                   [self = post.self.lock()](PostAnswer answer) { Answer(*self, std::move(answer)); });
}

void HttpPosts::Answer(Post& post, PostAnswer answer) {
  const std::lock_guard<std::mutex> lock(post.shared->mutex);
  if (post.answer.has_value()) return;
  post.answer = std::move(answer);
  if (std::exchange(post.is_suspended, false)) MHD_resume_connection(post.connection);
}

void HttpPosts::Close(void* post) {
  const std::unique_ptr<std::shared_ptr<Post>> self(static_cast<std::shared_ptr<Post>*>(post));
  const std::shared_ptr<Shared> shared = (*self)->shared;
  const std::lock_guard<std::mutex> lock(shared->mutex);
  shared->posts.erase(self->get());
  shared->closed.notify_all();
}

void HttpPosts::End() {
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->has_ended = true;
  for (Post* post : shared_->posts) {
    if (!post->is_suspended) continue;
    post->answer = {MHD_HTTP_SERVICE_UNAVAILABLE, post->route->refusal("the server ends; it may have been done")};
    post->is_suspended = false;
    MHD_resume_connection(post->connection);
  }
  shared_->closed.wait_for(lock, kFarewell, [this] {
    for (const Post* post : shared_->posts) {
      if (post->answer.has_value()) return false;
    }
    return true;
  });
}

// ---- the server ----

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
    return QueueText(connection, answer.code, answer.content_type.c_str(), answer.body);
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
