#include "runtime/http/http_posts.h"

#include <microhttpd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/http/http_answer.h"
#include "runtime/http/http_host.h"

namespace banyan {
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

}  // namespace banyan
