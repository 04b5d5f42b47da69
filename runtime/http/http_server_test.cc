#include "runtime/http/http_server.h"

#include <optional>
#include <string>
#include <utility>

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
  auto server = HttpServer::Serve("127.0.0.1:0", {route}, "0123456789");
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
  auto server = HttpServer::Serve(
      "127.0.0.1:0", {{"/page", text}, {"/events", nullptr, events}, {"/healthz", text, nullptr, true}}, "0123456789");
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

TEST(HttpServerTest, ElsewhereEveryNameIsAnswered) {
  const auto server = Serve("*:0");
  ASSERT_NE(server, nullptr);
  EXPECT_THAT(Ask(PortOf(*server), "GET / HTTP/1.1\r\nConnection: close\r\nHost: banyan.example\r\n\r\n"),
              HasSubstr("hello"));
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
