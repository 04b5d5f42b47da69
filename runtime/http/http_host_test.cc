#include "runtime/http/http_host.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

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
