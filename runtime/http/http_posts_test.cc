#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/http/http_server.h"
#include "runtime/http/request_checks.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kToken[] = "0123456789abcdef";
constexpr char kBearer[] = "Authorization: Bearer 0123456789abcdef\r\n";

// A server with one route at /orders, and what came there.
class HttpPostsTest : public ::testing::Test {
 protected:
  HttpPostsTest() {
    HttpRoute route;
    route.path = "/orders";
    route.post = HttpPostRoute{20000,
                               [](absl::string_view authorization) -> absl::StatusOr<std::string> {
                                 if (GivesBearerToken(authorization, kToken)) return "ada";
                                 if (authorization == "Bearer other") return absl::PermissionDeniedError("no operator");
                                 return absl::UnauthenticatedError("no token");
                               },
                               [this](std::string sender, std::string body, AnswerPost answer) {
                                 if (body == "at once") return answer({200, {"text/plain", "done at once"}});
                                 const std::lock_guard<std::mutex> lock(mutex_);
                                 taken_.push_back(absl::StrCat(sender, ": ", body));
                                 answers_.push_back(std::move(answer));
                                 came_.notify_all();
                               },
                               [](absl::string_view why) {
                                 return HttpContent{"text/plain", absl::StrCat("refused: ", why)};
                               }};
    auto server = HttpServer::Serve("127.0.0.1:0", {std::move(route)},
                                    {.token = [] { return std::string("readers' token"); }, .hosts = {"ops.example"}});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    EXPECT_TRUE(absl::SimpleAtoi(server_->url().substr(server_->url().rfind(':') + 1), &port_));
  }

  std::string Post(const std::string& headers, const std::string& body, absl::string_view method = "POST") {
    const FileDescriptor client = Connect(port_);
    const std::string request = absl::StrCat(method, " /orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n",
                                             headers, "Content-Length: ", body.size(), "\r\n\r\n", body);
    EXPECT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return ReadAll(client.get());
  }
  std::string Ask(const std::string& request) {
    const FileDescriptor client = Connect(port_);
    EXPECT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    return ReadAll(client.get());
  }
  // The answers of `count` posts that have come.
  std::vector<AnswerPost> AwaitPosts(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    came_.wait(lock, [&] { return answers_.size() == count; });
    return answers_;
  }
  std::vector<std::string> taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return taken_;
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::string> taken_;
  std::vector<AnswerPost> answers_;
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
};

TEST_F(HttpPostsTest, TakesABodyAndAnswersLater) {
  std::string told;
  const std::string body(15000, 'x');
  std::thread client([&] { told = Post(kBearer, body); });
  const std::vector<AnswerPost> answers = AwaitPosts(1);
  // Nobody else waits meanwhile.
  EXPECT_THAT(Post(kBearer, "at once"), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("done at once")));
  answers[0]({200, {"application/json", "{}"}});
  answers[0]({500, {"text/plain", "again"}});
  client.join();
  EXPECT_THAT(told, AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("Content-Type: application/json"),
                          HasSubstr("Content-Security-Policy"), HasSubstr("\r\n\r\n{}")));
  EXPECT_THAT(taken(), ::testing::ElementsAre("ada: " + body));
}

TEST_F(HttpPostsTest, NobodyElseIsTakenFrom) {
  EXPECT_THAT(Post("", "at once"), AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Bearer realm"),
                                         HasSubstr("refused: no token")));
  EXPECT_THAT(Post("Authorization: Bearer 0123456789abcdeF\r\n", "at once"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Post("Authorization: Bearer other\r\n", "at once"),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("refused: no operator")));
  // As a browser gives it of itself, whoever makes it ask.
  EXPECT_THAT(Post("Authorization: Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==\r\n", "at once"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(taken(), IsEmpty());
}

TEST_F(HttpPostsTest, AnotherSitesPageIsRefused) {
  for (const char* origin : {"http://evil.example", "null", "http://localhost:1"}) {
    EXPECT_THAT(Post(absl::StrCat(kBearer, "Origin: ", origin, "\r\n"), "at once"),
                AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("another site"), Not(HasSubstr("Access-Control"))));
  }
  EXPECT_THAT(Post(absl::StrCat(kBearer, "Origin: http://localhost\r\n"), "at once"), HasSubstr("done at once"));
  EXPECT_THAT(Post(absl::StrCat(kBearer, "Origin: https://ops.example\r\n"), "at once"), HasSubstr("done at once"))
      << "the site of a proxy";
  // Before a browser sends what a foreign page wants, it asks.
  EXPECT_THAT(Post("Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n", "", "OPTIONS"),
              AllOf(StartsWith("HTTP/1.1 405 "), Not(HasSubstr("Access-Control"))));
}

TEST_F(HttpPostsTest, BodiesAreBounded) {
  EXPECT_THAT(Ask(absl::StrCat("POST /orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", kBearer,
                               "Content-Length: 20001\r\n\r\n")),
              AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("expected at most 20000 bytes, got 20001")));
  const std::string chunked = absl::StrCat("POST /orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", kBearer,
                                           "Transfer-Encoding: chunked\r\n");
  EXPECT_THAT(Ask(absl::StrCat(chunked, "\r\n7\r\nat once\r\n0\r\n\r\n")), StartsWith("HTTP/1.1 411 "));
  // A header that says less than there is.
  EXPECT_THAT(Ask(absl::StrCat(chunked, "Content-Length: 1\r\n\r\n7530\r\n", std::string(30000, 'x'), "\r\n0\r\n\r\n")),
              Not(HasSubstr(" 200 ")));
  EXPECT_THAT(taken(), IsEmpty());
}

TEST_F(HttpPostsTest, OnlyPostsAreTakenAndOnlyThere) {
  const std::string readers = "Authorization: Bearer readers' token\r\n";
  EXPECT_THAT(Post(readers, "", "GET"), AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("expected POST")));
  EXPECT_THAT(Post(readers, "at once", "PUT"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Post("", "", "GET"), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Ask(absl::StrCat("POST /page HTTP/1.0\r\nHost: localhost\r\n", readers, "Content-Length: 0\r\n\r\n")),
              StartsWith("HTTP/1.1 404 "));
}

TEST_F(HttpPostsTest, AtMostAFewWaitAndTheEndTellsThem) {
  std::vector<std::string> told(HttpPosts::kMostPosts);
  std::vector<std::thread> clients;
  for (std::string& answer : told) {
    clients.emplace_back([this, &answer] { answer = Post(kBearer, "later"); });
  }
  const std::vector<AnswerPost> answers = AwaitPosts(told.size());
  EXPECT_THAT(Post(kBearer, "at once"), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("refused: expected at most 4")));
  server_.reset();
  for (std::thread& client : clients) client.join();
  for (const std::string& answer : told) {
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("it may have been done")));
  }
  // Too late, and nobody is hurt.
  answers[0]({200, {"text/plain", "late"}});
}

TEST_F(HttpPostsTest, AClientThatGoesAwayLeavesNothingBehind) {
  {
    const FileDescriptor client = Connect(port_);
    const std::string request =
        absl::StrCat("POST /orders HTTP/1.1\r\nHost: localhost\r\n", kBearer, "Content-Length: 5\r\n\r\nlater");
    ASSERT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    AwaitPosts(1);
  }
  AwaitPosts(1)[0]({200, {"text/plain", "nobody hears it"}});
  // A body that never comes whole is not taken.
  {
    const FileDescriptor client = Connect(port_);
    const std::string request =
        absl::StrCat("POST /orders HTTP/1.1\r\nHost: localhost\r\n", kBearer, "Content-Length: 9\r\n\r\nlater");
    ASSERT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  }
  EXPECT_THAT(Post(kBearer, "at once"), HasSubstr("done at once"));
  server_.reset();
  EXPECT_THAT(taken(), ::testing::ElementsAre("ada: later"));
}

}  // namespace
}  // namespace banyan
