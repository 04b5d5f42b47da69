#include "runtime/http/request_checks.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr char kToken[] = "0123456789abcdef";

TEST(BearerTokenTest, ProgramsAndBrowsersGiveIt) {
  EXPECT_TRUE(GivesToken(absl::StrCat("Bearer ", kToken), kToken));
  EXPECT_TRUE(GivesToken(absl::StrCat("bearer  ", kToken, " "), kToken));
  EXPECT_TRUE(GivesToken(absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat("me:", kToken))), kToken));
  EXPECT_TRUE(GivesToken(absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(":", kToken))), kToken));
}

TEST(BearerTokenTest, WhatABrowserAddsByItselfIsNoBearer) {
  EXPECT_TRUE(GivesBearerToken(absl::StrCat("Bearer ", kToken), kToken));
  EXPECT_FALSE(GivesBearerToken(absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat("me:", kToken))), kToken));
  EXPECT_FALSE(GivesBearerToken("", kToken));
}

TEST(BearerTokenTest, NothingElseDoes) {
  for (const std::string& given :
       {std::string(), std::string(kToken), std::string("Bearer"), std::string("Bearer "),
        std::string("Bearer 0123456789abcdeF"), absl::StrCat("Bearer ", kToken, "0"), std::string("Basic !!"),
        absl::StrCat("Basic ", kToken), absl::StrCat("Basic ", absl::Base64Escape(kToken)),
        absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(kToken, ":"))), absl::StrCat("Digest ", kToken)}) {
    EXPECT_FALSE(GivesToken(given, kToken)) << given;
  }
}

TEST(HttpHostTest, AddressesAndThisMachineAreNoForeignSite) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:7780", "10.0.0.1:80", "[::1]", "[::1]:7780", "localhost", "LocalHost:7780"}) {
    EXPECT_TRUE(IsAddressOrLocalhost(host)) << host;
  }
}

TEST(HttpHostTest, NamesAndWhatIsNoHostAre) {
  for (const char* host : {"", ":", ":80", "[", "[]", "example.org", "example.org:7780", "127.0.0.1.example.org",
                           "localhost.example.org:80", "[example.org]:80", "127.0.0.1:80:80"}) {
    EXPECT_FALSE(IsAddressOrLocalhost(host)) << host;
  }
}

TEST(HttpHostTest, OnlyItsOwnPagesAndProgramsAreOfTheSameOrigin) {
  EXPECT_TRUE(IsSameOrigin("", "h:7780"));
  EXPECT_TRUE(IsSameOrigin("http://h:7780", "h:7780"));
  EXPECT_TRUE(IsSameOrigin("https://H", "h"));
  for (const char* origin : {"null", "h:7780", "http://h:7781", "http://h", "http://evil.example", "http://h:7780.evil",
                             "ftp://h:7780", "http://"}) {
    EXPECT_FALSE(IsSameOrigin(origin, "h:7780")) << origin;
  }
  EXPECT_FALSE(IsSameOrigin("http://", ""));
  for (const char* origin : {"https://ops.example", "https://OPS.example:8443"}) {
    EXPECT_TRUE(IsSameOrigin(origin, "127.0.0.1:7780", {"a", "ops.example"})) << origin;
  }
  EXPECT_FALSE(IsSameOrigin("https://ops.example.evil", "127.0.0.1:7780", {"ops.example"}));
}

}  // namespace
}  // namespace banyan
