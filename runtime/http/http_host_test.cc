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

}  // namespace
}  // namespace banyan
