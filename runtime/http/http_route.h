// What a web server has at one path. Values.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_
#define BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace banyan {

struct HttpContent {
  std::string content_type;
  std::string body;
};

// What a reader has not seen yet, as server-sent events (WHATWG HTML, section 9.2), each ended by an empty line; empty
// when there is nothing new. `place` is how far the reader is, 0 at its start. The source moves it.
using EventSource = std::function<std::string(uint64_t& place)>;

// All functions are called on the server's thread.
struct HttpRoute {
  std::string path;
  std::function<HttpContent()> answer;
  EventSource events = nullptr;  // a stream in place of an answer
  bool is_for_all = false;       // also for those without the token
  // In place of `answer`, for all paths that begin with `path`: `rest` is what follows it. Nothing: there is no such.
  std::function<std::optional<HttpContent>(absl::string_view rest)> below = nullptr;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_ROUTE_H_
