// What a web server has at one path. Values.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_
#define BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

struct HttpContent {
  std::string content_type;
  std::string body;
  unsigned code = 200;  // of an answer to GET
};

// What a reader has not seen yet, as server-sent events (WHATWG HTML, section 9.2), each ended by an empty line; empty
// when there is nothing new. `place` is how far the reader is, 0 at its start. The source moves it.
using EventSource = std::function<std::string(uint64_t& place)>;

struct PostAnswer {
  unsigned code = 200;
  HttpContent content;
};

// Answers a post. For any thread; only the first call counts, and none after the server's end.
using AnswerPost = std::function<void(PostAnswer answer)>;

// What a path takes by POST, and from whom. All functions are called on the server's thread.
struct HttpPostRoute {
  size_t most_bytes = 0;  // of a body
  // Returns the name of whoever gives `authorization`, the value of that header, before the body is read. Otherwise
  // UNAUTHENTICATED, which is answered by 401, or PERMISSION_DENIED, by 403.
  std::function<absl::StatusOr<std::string>(absl::string_view authorization)> admit;
  // Takes what `sender`, as `admit` names them, has sent. The answer may come later, and keeps nobody else waiting.
  std::function<void(std::string sender, std::string body, AnswerPost answer)> take;
  // Returns how the client is told why the server refuses.
  std::function<HttpContent(absl::string_view why)> refusal;
};

// Who reads a server, and by which names. All functions are called on the server's thread.
struct HttpAccess {
  // Returns the token that readers must give now; empty: none is right. Null: everybody may read.
  std::function<std::string()> token = nullptr;
  // Names without a port by which it is asked for, besides addresses and those of this machine.
  std::vector<std::string> hosts = {};
  // Takes the address of who gives a wrong token, or a wrong one of an operator.
  std::function<void(const std::string& from)> on_wrong_token = nullptr;
};

// All functions are called on the server's thread.
struct HttpRoute {
  std::string path;
  std::function<HttpContent()> answer;
  EventSource events = nullptr;  // a stream in place of an answer
  bool is_for_all = false;       // also for those without the token, and under any name
  // In place of `answer`, for all paths that begin with `path`: `rest` is what follows it. Nothing: there is no such.
  std::function<std::optional<HttpContent>(absl::string_view rest)> below = nullptr;
  std::optional<HttpPostRoute> post = std::nullopt;  // in place of all others
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_
