// Posts on their way: their bodies as they come, and those whose answers are waited for. Owned by the server. What a
// route gets to answer with is for any thread, the rest for the server's; End for its owner's.
// Invariants:
// - Nothing of a body is kept before its sender is admitted, and never more than the route takes.
// - Whoever waits for an answer is suspended in the server, and `is_suspended` says so; both change under the mutex.
#ifndef BANYAN_RUNTIME_HTTP_HTTP_POSTS_H_
#define BANYAN_RUNTIME_HTTP_HTTP_POSTS_H_

#include <cstddef>
#include <memory>

#include "runtime/http/http_route.h"

struct MHD_Connection;

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_HTTP_HTTP_POSTS_H_
