#include "runtime/http/http_server.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::unique_ptr<HttpServer> Serve(const std::string& address = "127.0.0.1:0") {
  absl::StatusOr<std::unique_ptr<HttpServer>> server =
      HttpServer::Serve(address, {{"/",
                                   [] {
                                     return HttpContent{"text/html; charset=utf-8", "<p>hello"};
                                   }},
                                  {"/api/status", [] {
                                     return HttpContent{"application/json", std::string(100000, '7')};
                                   }}});
  EXPECT_TRUE(server.ok()) << server.status();
  return server.ok() ? *std::move(server) : nullptr;
}

int PortOf(const HttpServer& server) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(server.url().substr(server.url().rfind(':') + 1), &port)) << server.url();
  return port;
}

// The answer to these bytes, until the server closes.
std::string Ask(int port, const std::string& request) {
  const FileDescriptor client = Connect(port);
  EXPECT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  return ReadAll(client.get());
}

TEST(HttpServerTest, AnswersItsPathsAndNamesThemOtherwise) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  const int port = PortOf(*server);
  EXPECT_THAT(HttpGet(port, "/"), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("Content-Type: text/html; charset"),
                                        HasSubstr("\r\n\r\n<p>hello")));
  EXPECT_THAT(HttpGet(port, "/?a=b"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(HttpGet(port, "/api/status"), HasSubstr(std::string(100000, '7')));
  EXPECT_THAT(HttpGet(port, "/api"), AllOf(HasSubstr(" 404 "), HasSubstr("expected one of /, /api/status\n")));
  EXPECT_THAT(HttpGet(port, "/../etc/passwd"), HasSubstr(" 404 "));
}

TEST(HttpServerTest, ARouteMayAnswerWhatIsBelowIt) {
  HttpRoute route;
  route.path = "/at/";
  route.below = [](absl::string_view rest) -> std::optional<HttpContent> {
    if (rest == "nothing") return std::nullopt;
    return HttpContent{"text/plain", absl::StrCat("<", rest, ">")};
  };
  auto server = HttpServer::Serve("127.0.0.1:0", {route}, {.token = [] { return std::string("0123456789"); }});
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = PortOf(**server);
  const auto get = [port](const std::string& path) {
    return Ask(port,
               absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer 0123456789\r\n\r\n"));
  };
  EXPECT_THAT(get("/at/12.5"), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("\r\n\r\n<12.5>")));
  EXPECT_THAT(get("/at/"), HasSubstr("\r\n\r\n<>"));
  EXPECT_THAT(get("/at/nothing"), AllOf(HasSubstr(" 404 "), HasSubstr("expected one of /at/\n")));
  EXPECT_THAT(get("/at"), HasSubstr(" 404 "));
  EXPECT_THAT(HttpGet(port, "/at/12.5"), StartsWith("HTTP/1.1 401 "));
}

TEST(HttpServerTest, WithATokenNobodyElseReads) {
  const auto text = [] { return HttpContent{"text/plain", "ok"}; };
  const auto events = [](uint64_t&) { return std::string("data: secret\n\n"); };
  auto server = HttpServer::Serve("127.0.0.1:0",
                                  {{"/page", text}, {"/events", nullptr, events}, {"/healthz", text, nullptr, true}},
                                  {.token = [] { return std::string("0123456789"); }});
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = PortOf(**server);
  for (const char* path : {"/page", "/events", "/nothing"}) {
    for (const char* header : {"", "Authorization: Bearer 012345678X\r\n", "Authorization: 0123456789\r\n"}) {
      const std::string answer =
          Ask(port, absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: localhost\r\n", header, "\r\n"));
      EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("WWW-Authenticate: Basic realm"),
                                Not(HasSubstr("secret")), Not(HasSubstr("/page"))))
          << path << header;
    }
  }
  EXPECT_THAT(HttpGet(port, "/healthz"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(Ask(port, "GET /page HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer 0123456789\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(Ask(port, "GET /page HTTP/1.0\r\nHost: localhost\r\nAuthorization: Basic bWU6MDEyMzQ1Njc4OQ==\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK"));
}

TEST(HttpServerTest, EveryAnswerKeepsForeignCodeOut) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  for (const char* path : {"/", "/api/status", "/nothing"}) {
    EXPECT_THAT(HttpGet(PortOf(*server), path),
                AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self';"),
                      HasSubstr("X-Content-Type-Options: nosniff\r\n"), HasSubstr("X-Frame-Options: DENY\r\n"),
                      HasSubstr("Cache-Control: no-store\r\n"), Not(HasSubstr("Access-Control-Allow-Origin"))))
        << path;
  }
}

TEST(HttpServerTest, OnLoopbackAForeignSiteIsNotAnswered) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  const auto ask_as = [&server](const std::string& host) {
    return Ask(PortOf(*server), absl::StrCat("GET / HTTP/1.1\r\nConnection: close\r\nHost: ", host, "\r\n\r\n"));
  };
  EXPECT_THAT(ask_as("evil.example:80"), AllOf(HasSubstr(" 421 "), Not(HasSubstr("hello"))));
  EXPECT_THAT(ask_as("localhost:80"), HasSubstr(" 200 "));
  EXPECT_THAT(ask_as("[::1]:80"), HasSubstr(" 200 "));
}

TEST(HttpServerTest, NorElsewhereWhereEverybodyMayRead) {
  const auto text = [] { return HttpContent{"text/plain", "hello"}; };
  const std::vector<HttpRoute> routes = {{"/", text}, {"/healthz", text, nullptr, true}};
  const auto open = HttpServer::Serve("*:0", routes, {.hosts = {"ops.example"}});
  ASSERT_TRUE(open.ok()) << open.status();
  const auto ask = [](const HttpServer& server, const std::string& path, const std::string& host,
                      const char* more = "") {
    return Ask(PortOf(server),
               absl::StrCat("GET ", path, " HTTP/1.1\r\nConnection: close\r\nHost: ", host, "\r\n", more, "\r\n"));
  };
  EXPECT_THAT(ask(**open, "/", "evil.example"), HasSubstr(" 421 "));
  EXPECT_THAT(ask(**open, "/", "ops.example.evil.example"), HasSubstr(" 421 "));
  EXPECT_THAT(ask(**open, "/", "OPS.example:443"), HasSubstr("hello"));
  EXPECT_THAT(ask(**open, "/", "10.0.0.1:7780"), HasSubstr("hello"));
  char own[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(gethostname(own, HOST_NAME_MAX), 0);
  EXPECT_THAT(ask(**open, "/", absl::StrCat(own, ":7780")), HasSubstr("hello"));
  EXPECT_THAT(ask(**open, "/healthz", "banyan.example"), HasSubstr("hello")) << "probes may ask for any name";
  const auto closed = HttpServer::Serve("*:0", routes, {.token = [] { return std::string("0123456789"); }});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_THAT(ask(**closed, "/", "banyan.example", "Authorization: Bearer 0123456789\r\n"), HasSubstr("hello"));
}

// Connected from `host`, with a request that goes on.
FileDescriptor HalfRequest(int port, const char* host = "127.0.0.1") {
  FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, host, &address.sin_addr), 1);
  const int little = 4096;  // of an answer
  EXPECT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little), 0);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET / HTTP/1.0\r\nHost: localhost\r\nA: ";
  EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  return fd;
}

TEST(HttpServerTest, HalfRequestsMakeRoom) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  const int port = PortOf(*server);
  const FileDescriptor neighbour = HalfRequest(port, "127.0.0.2");
  std::vector<FileDescriptor> half;
  for (int i = 0; i < 64; ++i) half.push_back(HalfRequest(port));
  EXPECT_THAT(HttpGet(port, "/"), HasSubstr("hello"));
  char byte = 0;
  EXPECT_LE(recv(half.front().get(), &byte, 1, 0), 0) << "the oldest has made room";
  EXPECT_EQ(recv(half.back().get(), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN) << "and the newest did not need to";
  EXPECT_EQ(send(neighbour.get(), "\r\n\r\n", 4, MSG_NOSIGNAL), 4);
  EXPECT_THAT(ReadAll(neighbour.get()), HasSubstr("hello")) << "nobody else has had to";
}

TEST(HttpServerTest, AnswersThatNobodyTakesMakeRoomToo) {
  const std::string large(size_t{8} << 20, '7');
  const auto server = HttpServer::Serve("127.0.0.1:0", {{"/",
                                                         [&] {
                                                           return HttpContent{"text/plain", large};
                                                         }},
                                                        {"/healthz", [] {
                                                           return HttpContent{"text/plain", "ok"};
                                                         }}});
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = PortOf(**server);
  std::vector<FileDescriptor> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(HalfRequest(port));
    EXPECT_EQ(send(slow.back().get(), "\r\n\r\n", 4, MSG_NOSIGNAL), 4);
    char first = 0;
    EXPECT_EQ(recv(slow.back().get(), &first, 1, 0), 1) << "it is being answered";
  }
  EXPECT_THAT(HttpGet(port, "/healthz"), HasSubstr("ok"));
}

TEST(HttpServerTest, TheTokenIsAskedForEachTimeAndWrongOnesAreTold) {
  std::string token = "0123456789";
  std::vector<std::string> from;
  const auto text = [] { return HttpContent{"text/plain", "hello"}; };
  auto server = HttpServer::Serve(
      "127.0.0.1:0", {{"/", text}},
      {.token = [&] { return token; }, .on_wrong_token = [&](const std::string& host) { from.push_back(host); }});
  ASSERT_TRUE(server.ok()) << server.status();
  const auto ask = [&](const std::string& header) {
    return Ask(PortOf(**server), absl::StrCat("GET / HTTP/1.0\r\nHost: localhost\r\n", header, "\r\n"));
  };
  EXPECT_THAT(ask("Authorization: Bearer 0123456789\r\n"), HasSubstr("hello"));
  token = "9876543210";
  EXPECT_THAT(ask("Authorization: Bearer 0123456789\r\n"), HasSubstr(" 401 "));
  EXPECT_THAT(ask(""), HasSubstr(" 401 "));
  EXPECT_THAT(ask("Authorization: Bearer 9876543210\r\n"), HasSubstr("hello"));
  token = "";
  EXPECT_THAT(ask("Authorization: Bearer \r\n"), HasSubstr(" 401 "));
  server->reset();
  EXPECT_THAT(from, ::testing::Each("127.0.0.1"));
  EXPECT_EQ(from.size(), 2u);
}

TEST(HttpServerTest, WhatIsNoRequestGetsNoAnswerOfARoute) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  const int port = PortOf(*server);
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("\x16\x03\x01\x02\r\n\r\n\r\n", 9),
        absl::StrCat("GET /", std::string(20000, 'a'), " HTTP/1.0\r\n\r\n"),
        absl::StrCat("GET / HTTP/1.0\r\nX: ", std::string(20000, 'a'), "\r\n\r\n"),
        std::string("DELETE / HTTP/1.0\r\n\r\n"), std::string("PUT / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")}) {
    EXPECT_THAT(Ask(port, request), Not(HasSubstr(" 200 "))) << request.substr(0, 60);
  }
  EXPECT_THAT(HttpGet(port, "/"), HasSubstr("hello"));
}

TEST(HttpServerTest, AHeadHasNoBody) {
  const auto server = Serve();
  ASSERT_NE(server, nullptr);
  const std::string answer = Ask(PortOf(*server), "HEAD / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK"), Not(HasSubstr("hello"))));
}

}  // namespace
}  // namespace banyan
