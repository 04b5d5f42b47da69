#include "runtime/http/bearer_token.h"

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

}  // namespace
}  // namespace banyan
