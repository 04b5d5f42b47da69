// Serves answers and event streams over HTTP to whoever asks, or gives a token, and takes posts from whom a route
// admits. It has a thread of its own, which sees nothing of the process but what the routes give it. On loopback, and
// where everybody may read, it answers no web page of another site. Thread-compatible, but Wake is for any thread.
// Invariants:
// - Connections, their memory and the time of silence are bounded.
// - Whoever connects gets in. When there are too many connections one makes room: the oldest whose request is not whole
//   yet, of the host that has most such ones; without any, one that is being answered. Event streams and posts stay.
// - Every answer forbids a browser to take code, styles or data from elsewhere.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_SERVER_H_
#define BANYAN_RUNTIME_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/http/event_streams.h"
#include "runtime/http/http_posts.h"
#include "runtime/http/http_route.h"

struct MHD_Connection;
struct MHD_Daemon;

namespace banyan {

class HttpServer {
 public:
  // `address` is host:port, in the form that CheckHttpAddress takes; the host * is every interface, port 0 a free one.
  // UNAVAILABLE when it cannot be bound. Where `access` has a token, who does not give it gets 401 and nothing else,
  // but for routes that are for all and those that take posts, which admit for themselves.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Serve(const std::string& address, std::vector<HttpRoute> routes,
                                                           HttpAccess access = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  // Routes are not called any more when this returns.
  ~HttpServer();

  // http://host:port, with the real port.
  const std::string& url() const { return url_; }
  // Makes the event streams look for what is new.
  void Wake() { streams_.Wake(); }
  // The open event streams.
  size_t readers() const { return streams_.readers(); }

  // Called by the library for each request; returns its MHD_Result. `post` gets what HttpPosts keeps for one.
  int Handle(MHD_Connection* connection, absl::string_view path, absl::string_view method, void** post);
  // Called by the library: about a new connection, the end of a request, and the end of a connection. `peer` is what
  // the first has returned.
  void* OnConnected(MHD_Connection* connection);
  void OnAnswered(void* peer);
  void OnClosed(void* peer);

 private:
  struct Peer {
    std::string host;
    int fd = -1;               // the library's
    bool is_answered = false;  // its request is whole
    bool is_kept = false;      // as long as it stays
    bool is_leaving = false;
  };
  using Peers = std::list<Peer>;

  HttpServer(std::vector<HttpRoute> routes, HttpAccess access)
      : routes_(std::move(routes)), access_(std::move(access)) {}
  void MakeRoom();
  // Whether a page of another site may not ask under the name of `host`.
  bool IsMisdirected(absl::string_view host) const;
  absl::Status Start(const std::string& host, const std::string& port);
  // Whether the request gives the token, if one is asked for.
  bool IsAdmitted(MHD_Connection* connection, const HttpRoute* route) const;
  int Answer(MHD_Connection* connection, const HttpRoute& route, absl::string_view path, bool is_head);
  int QueueNotFound(MHD_Connection* connection) const;
  const HttpRoute* FindRoute(absl::string_view path) const;

  const std::vector<HttpRoute> routes_;
  const HttpAccess access_;
  std::vector<std::string> own_names_;  // of this machine and of the address
  Peers peers_;  // of the server's thread; first the one that has been without a whole request for longest
  EventStreams streams_;
  HttpPosts posts_;
  std::string url_;
  bool is_loopback_ = false;
  MHD_Daemon* server_ = nullptr;  // null only before Start
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_SERVER_H_
