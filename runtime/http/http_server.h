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
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/http/http_route.h"

struct MHD_Connection;
struct MHD_Daemon;
struct MHD_Response;

namespace banyan {

// The readers of a web server's event streams. Each gets what is new as fast as it reads, and waits without costing
// anything while there is nothing. Owned by the server. Wake is for any thread, the rest for the server's.
// Invariants:
// - A reader holds one piece of its source at a time: who reads slowly misses what was overtaken, and grows no queue.
// - A waiting reader is suspended in the server, and `waits` says so; both change under `mutex_`.
class EventStreams {
 public:
  // So many leave connections to those who ask for something else.
  static constexpr size_t kMostReaders = 8;

  EventStreams() = default;
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  // Makes the endless body of an answer; nullptr when there are too many readers. `source` outlives the connection.
  MHD_Response* Open(MHD_Connection* connection, const EventSource* source);
  // Makes all readers look for what is new.
  void Wake();
  // Ends all streams, those too that open later.
  void End();
  size_t readers() const;

 private:
  struct Reader {
    EventStreams* streams = nullptr;
    MHD_Connection* connection = nullptr;
    const EventSource* source = nullptr;
    uint64_t place = 0;
    std::string piece;
    size_t sent_bytes = 0;  // of the piece
    bool waits = false;
  };

  // Called by the server for the next bytes, and when a reader has gone.
  static long Read(void* reader, uint64_t position, char* out, size_t size);
  static void Close(void* reader);
  long ReadNext(Reader& reader, char* out, size_t size);
  void WakeAll();  // REQUIRES: mutex_

  mutable std::mutex mutex_;
  std::set<Reader*> readers_;  // guarded by mutex_, as are the readers; each is owned by its answer
  bool has_ended_ = false;     // guarded by mutex_
};

// Posts on their way: their bodies as they come, and those whose answers are waited for. Owned by the server. What a
// route gets to answer with is for any thread, the rest for the server's; End for its owner's.
// Invariants:
// - Nothing of a body is kept before its sender is admitted, and never more than the route takes.
// - Whoever waits for an answer is suspended in the server, and `is_suspended` says so; both change under the mutex.
class HttpPosts {
 public:
  // So many leave connections to those who look.
  static constexpr size_t kMostPosts = 4;

  HttpPosts();
  HttpPosts(const HttpPosts&) = delete;
  HttpPosts& operator=(const HttpPosts&) = delete;
  ~HttpPosts();

  // Called when the headers have come. Refuses the request, or sets `*post` for its further calls. Returns the
  // MHD_Result, as does Continue. `route` outlives the request.
  int Begin(MHD_Connection* connection, const HttpPostRoute* route, const HttpAccess& access, void** post);
  // Called for each piece of the body, at its end without one, and again when there is an answer.
  static int Continue(MHD_Connection* connection, void* post, const char* data, size_t* data_bytes);
  // Called when the request is over.
  static void Close(void* post);
  // Answers all who wait that there is no answer, and waits a moment until all answers have been sent.
  void End();

 private:
  struct Shared;
  struct Post;

  static void Take(Post& post);
  static void Answer(Post& post, PostAnswer answer);

  const std::shared_ptr<Shared> shared_;  // with what routes answer with, which may outlive this
};

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
