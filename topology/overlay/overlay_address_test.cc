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

}  // namespace
}  // namespace banyan
