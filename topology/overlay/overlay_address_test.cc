#include "topology/overlay/overlay_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(OverlayAddressTest, ConnectAddresses) {
  for (const char* good :
       {"tcp://10.0.0.1:7700", "tcp://n1.example.org:1", "tcp://[::1]:65535", "tcp://localhost:80"}) {
    EXPECT_TRUE(CheckConnectAddress(good).ok()) << good;
  }
  for (const char* bad : {"",
                          "10.0.0.1:7700",
                          "udp://10.0.0.1:7700",
                          "tcp://10.0.0.1",
                          "tcp://10.0.0.1:0",
                          "tcp://10.0.0.1:65536",
                          "tcp://10.0.0.1:-1",
                          "tcp://:7700",
                          "tcp://*:7700",
                          "tcp://a b:7700",
                          "tcp://[::1:7700",
                          "tcp://::1:7700",
                          "tcp://a:",
                          "tcp://a:99999999999999999999",
                          "tcp://10.0.0.256:7700",
                          "tcp://10.0.0:7700",
                          "tcp://10.0.0.01:7700",
                          "tcp://1.2.3.4.5:7700",
                          "tcp://0.0.0.0:7700",
                          "tcp://[::]:7700",
                          "tcp://[0::0]:7700",
                          "tcp://[::0.0.0.0]:7700",
                          "tcp://[ff02::1]:7700",
                          "tcp://0.1.2.3:7700",
                          "tcp://255.255.255.255:7700",
                          "tcp://239.1.1.1:7700",
                          "tcp://a..b:7700",
                          "tcp://-a:7700",
                          "tcp://10.0.0.1:70000",
                          "tcp://10.0.0.1:7700/",
                          "tcp://10.0.0.1:77oo",
                          "tcp://[1::2::3]:7700",
                          "tcp://[12345::]:7700",
                          "tcp://[1:2:3:4:5:6:7]:7700",
                          "tcp://[fd00::g]:7700",
                          "tcp://[]:7700",
                          "tcp://[::1]7700",
                          "tcp://[::1]",
                          "tcp://[::ffff:10.0.0.256]:1",
                          "tcp://m\xc3\xbcnchen:7700"}) {
    EXPECT_FALSE(CheckConnectAddress(bad).ok()) << bad;
  }
}

TEST(OverlayAddressTest, Ipv6Addresses) {
  for (const char* good : {"tcp://[::1]:1", "tcp://[fd00::1]:7700", "tcp://[1:2:3:4:5:6:7:8]:7700", "tcp://[1::]:7700",
                           "tcp://[::ffff:10.0.0.1]:7700", "tcp://[2001:DB8::a:0]:7700"}) {
    EXPECT_TRUE(CheckConnectAddress(good).ok()) << good;
  }
}

TEST(OverlayAddressTest, RefusalsSayWhy) {
  const std::map<std::string, std::string> reasons = {
      {"tcp://10.0.0.256:7700", "'10.0.0.256' is no IPv4 address"},
      {"tcp://10.0.0.1:0", "'0' is no port to connect to; ports go from 1 to 65535"},
      {"tcp://10.0.0.1:70000", "'70000' is no port; ports go from 1"},
      {"tcp://10.0.0.1", "the port is missing, such as :7700"},
      {"tcp://10.0.0.1:", "the port is missing after the ':'"},
      {"tcp://:7700", "the host is missing"},
      {"10.0.0.1:7700", "write tcp://10.0.0.1:7700"},
      {"tcp://::1:7700", "an IPv6 address needs brackets: [::1]"},
      {"tcp://0.0.0.0:7700", "no process can connect to 0.0.0.0"},
      {"tcp://*:7700", "no process can connect to *"},
      {"tcp://224.0.0.1:7700", "an address of many machines"},
      {"tcp://a..b:7700", "'a..b' is no host name"}};
  for (const auto& [address, reason] : reasons) {
    EXPECT_THAT(std::string(CheckConnectAddress(address).message()), HasSubstr(reason)) << address;
  }
  EXPECT_THAT(std::string(CheckHttpAddress("http://a:1").message()), HasSubstr("write a:1"));
  EXPECT_THAT(std::string(CheckListenAddress("tcp://*:65536").message()), HasSubstr("ports go from 0 to 65535"));
}

TEST(OverlayAddressTest, ListenAddressesMayLeaveHostAndPortOpen) {
  EXPECT_TRUE(CheckListenAddress("tcp://*:7700").ok());
  EXPECT_TRUE(CheckListenAddress("tcp://127.0.0.1:0").ok());
  EXPECT_TRUE(CheckListenAddress("tcp://0.0.0.0:0").ok());
  EXPECT_TRUE(CheckListenAddress("tcp://[::]:0").ok());
  EXPECT_FALSE(CheckListenAddress("*:7700").ok());
}

TEST(OverlayAddressTest, HttpAddressesHaveNoScheme) {
  EXPECT_TRUE(CheckHttpAddress("0.0.0.0:7780").ok());
  EXPECT_FALSE(CheckHttpAddress("http://0.0.0.0:7780").ok());
}

TEST(OverlayAddressTest, ListsHaveCommasAndNoAddressTwice) {
  EXPECT_EQ(*ParseConnectAddresses("tcp://a:1"), std::vector<std::string>{"tcp://a:1"});
  EXPECT_EQ(*ParseConnectAddresses("tcp://a:1,tcp://[::1]:2"),
            (std::vector<std::string>{"tcp://a:1", "tcp://[::1]:2"}));
  for (const char* bad : {"", ",", "tcp://a:1,", "tcp://a:1 tcp://b:1", "tcp://a:1,b:1", "tcp://a:1,tcp://a:1"}) {
    EXPECT_EQ(ParseConnectAddresses(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(OverlayAddressTest, WebServersHaveAScheme) {
  EXPECT_TRUE(CheckHttpUrl("http://10.0.0.1:2379").ok());
  EXPECT_TRUE(CheckHttpUrl("https://[::1]:2379").ok());
  for (const char* bad : {"", "10.0.0.1:2379", "tcp://a:1", "http://a", "http://a:0", "http://a:1/v3", "http://a:1/"}) {
    EXPECT_FALSE(CheckHttpUrl(bad).ok()) << bad;
  }
}

TEST(OverlayAddressTest, ANumberIsNoAddress) {
  EXPECT_THAT(std::string(CheckConnectAddress("tcp://2130706433:7700").message()), HasSubstr("is no IPv4 address"));
  EXPECT_THAT(std::string(CheckConnectAddress("tcp://10.0.0.1:07700").message()), HasSubstr("'07700' is no port"));
}

}  // namespace
}  // namespace banyan
