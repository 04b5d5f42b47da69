#include "topology/overlay/overlay_address.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(OverlayAddressTest, ConnectAddresses) {
  for (const char* good :
       {"tcp://10.0.0.1:7700", "tcp://n1.example.org:1", "tcp://[::1]:65535", "tcp://localhost:80"}) {
    EXPECT_TRUE(CheckConnectAddress(good).ok()) << good;
  }
  for (const char* bad : {"", "10.0.0.1:7700", "udp://10.0.0.1:7700", "tcp://10.0.0.1", "tcp://10.0.0.1:0",
                          "tcp://10.0.0.1:65536", "tcp://10.0.0.1:-1", "tcp://:7700", "tcp://*:7700", "tcp://a b:7700",
                          "tcp://[::1:7700", "tcp://::1:7700", "tcp://a:", "tcp://a:99999999999999999999"}) {
    EXPECT_FALSE(CheckConnectAddress(bad).ok()) << bad;
  }
}

TEST(OverlayAddressTest, ListenAddressesMayLeaveHostAndPortOpen) {
  EXPECT_TRUE(CheckListenAddress("tcp://*:7700").ok());
  EXPECT_TRUE(CheckListenAddress("tcp://127.0.0.1:0").ok());
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

}  // namespace
}  // namespace banyan
