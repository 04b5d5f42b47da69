#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/daemon/daemon_run.h"

namespace banyan {
namespace {

TEST(DaemonAddressTest, WarnsWhenOtherMachinesReachIt) {
  for (const char* address : {"tcp://127.0.0.1:0", "tcp://127.8.0.1:7700", "tcp://localhost:1", "tcp://[::1]:7700"}) {
    EXPECT_EQ(OpenAddressWarning(address, false), "") << address;
  }
  for (const char* address :
       {"tcp://*:7700", "tcp://0.0.0.0:7700", "tcp://10.0.0.1:7700", "tcp://localhost.example:1"}) {
    EXPECT_THAT(OpenAddressWarning(address, false), ::testing::HasSubstr("--insecure")) << address;
  }
}

TEST(DaemonAddressTest, ReplacesThePort) {
  EXPECT_EQ(WithPort("tcp://10.0.0.1:0", 7701), "tcp://10.0.0.1:7701");
  EXPECT_EQ(WithPort("tcp://[::1]:1", 7701), "tcp://[::1]:7701");
}

}  // namespace
}  // namespace banyan
