#include "runtime/transport/congestion_control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

TEST(CongestionControlTest, IsThatOfTheSocket) {
  const FileDescriptor fd(socket(AF_INET, SOCK_STREAM, 0));
  const std::string reno = "reno";
  ASSERT_EQ(setsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, reno.data(), static_cast<socklen_t>(reno.size())), 0);
  EXPECT_EQ(CongestionControlOf(fd.get()), "reno");
}

TEST(CongestionControlTest, IsNothingOfWhatIsNoTcpSocket) {
  const FileDescriptor datagrams(socket(AF_INET, SOCK_DGRAM, 0));
  EXPECT_EQ(CongestionControlOf(datagrams.get()), "");
  EXPECT_EQ(CongestionControlOf(-1), "");
}

TEST(CongestionControlTest, NewConnectionsHaveTheMachines) {
  std::string machines;
  std::ifstream("/proc/sys/net/ipv4/tcp_congestion_control") >> machines;
  if (machines.empty()) GTEST_SKIP() << "this system does not say which it is";
  EXPECT_EQ(NewConnectionsAreLossLimited(), machines != "bbr");
}

}  // namespace
}  // namespace banyan
