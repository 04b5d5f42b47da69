#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "gtest/gtest.h"
#include "runtime/transport/stranger_rates.h"

namespace banyan {
namespace {

sockaddr_storage Address(int family, const std::string& text) {
  sockaddr_storage address = {};
  address.ss_family = static_cast<sa_family_t>(family);
  void* const to = family == AF_INET ? static_cast<void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr)
                                     : static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr);
  EXPECT_EQ(inet_pton(family, text.c_str(), to), 1) << text;
  return address;
}

TEST(HostPrefixTest, AnIpv4AddressIsAHostHoweverItCame) {
  const auto host = HostPrefixOf(Address(AF_INET, "192.0.2.7"));
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(host->words[0], 0xc0000207u);
  EXPECT_EQ(host->Text(), "192.0.2.7");
  EXPECT_EQ(HostPrefixOf(Address(AF_INET6, "::ffff:192.0.2.7")), host);
  EXPECT_NE(HostPrefixOf(Address(AF_INET, "192.0.2.8")), host);
}

TEST(HostPrefixTest, AnIpv6HostIsItsNetwork) {
  const auto host = HostPrefixOf(Address(AF_INET6, "2001:db8:1:2::7"));
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(host->Text(), "2001:db8:1:2::/64");
  EXPECT_EQ(HostPrefixOf(Address(AF_INET6, "2001:db8:1:2:ffff::9")), host);
  EXPECT_NE(HostPrefixOf(Address(AF_INET6, "2001:db8:1:3::7")), host);
}

TEST(HostPrefixTest, AnotherFamilyHasNone) {
  sockaddr_storage address = {};
  address.ss_family = AF_UNIX;
  EXPECT_EQ(HostPrefixOf(address), std::nullopt);
}

}  // namespace
}  // namespace banyan
