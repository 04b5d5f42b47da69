// The program in the kernel, on real sockets in a network of the test's own: some kernels keep such programs to those
// who administer the network.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/stranger_rates.h"

namespace banyan {
namespace {

constexpr uint32_t kStranger = 0x7f000002;  // 127.0.0.2
constexpr uint32_t kOther = 0x7f000003;

sockaddr_in Ipv4(uint32_t host, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(port);
  return address;
}

class OwnNetworkTest : public testing::Test {
 protected:
  // Before a test's sockets are made.
  static void SetUpTestSuite() { EnterOwnNetwork(); }
  void SetUp() override {
    if (!EnterOwnNetwork()) GTEST_SKIP() << "this machine lets nobody make a network namespace";
  }
};

class SynFilterTest : public OwnNetworkTest {
 protected:
  SynFilterTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address = Ipv4(INADDR_LOOPBACK, 0);
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 64), 0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }

  // Begins to connect from an address of loopback.
  FileDescriptor ConnectFrom(uint32_t host) const {
    FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_in from = Ipv4(host, 0);
    EXPECT_EQ(bind(made.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)), 0);
    const sockaddr_in to = Ipv4(INADDR_LOOPBACK, port_);
    connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to));
    return made;
  }
  // Waits for a connection, and returns whose it is.
  uint32_t Accept() const {
    pollfd polled = {listener_.get(), POLLIN, 0};
    EXPECT_EQ(poll(&polled, 1, 120000), 1);
    sockaddr_in from = {};
    socklen_t size = sizeof(from);
    accepted_ = FileDescriptor(accept(listener_.get(), reinterpret_cast<sockaddr*>(&from), &size));
    EXPECT_TRUE(accepted_.valid());
    return ntohl(from.sin_addr.s_addr);
  }
  static bool IsTrying(const FileDescriptor& socket) {
    tcp_info info = {};
    socklen_t size = sizeof(info);
    EXPECT_EQ(getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return info.tcpi_state == TCP_SYN_SENT;
  }
  void Attach(const Admission& admission) const {
    const absl::Status status = AttachSynFilter(listener_.get(), admission);
    ASSERT_TRUE(status.ok()) << status;
  }

  FileDescriptor listener_;
  uint16_t port_ = 0;
  mutable FileDescriptor accepted_;
};

Admission Without(uint32_t host) { return {.known = {}, .shares = {{{false, {host, 0}}, 0.0}}, .share_of_others = 1}; }

TEST_F(SynFilterTest, AHostIsHeldBackAndOthersComeIn) {
  Attach(Without(kStranger));
  const FileDescriptor held = ConnectFrom(kStranger);
  const FileDescriptor other = ConnectFrom(kOther);
  EXPECT_EQ(Accept(), kOther);
  EXPECT_TRUE(IsTrying(held));
  EXPECT_FALSE(IsTrying(other));
}

TEST_F(SynFilterTest, WhoIsHeldBackTriesAgain) {
  Attach(Without(kStranger));
  const FileDescriptor held = ConnectFrom(kStranger);
  EXPECT_TRUE(IsTrying(held));
  Attach({});
  EXPECT_EQ(Accept(), kStranger);
}

TEST_F(SynFilterTest, AConnectionThatStandsIsNotTouched) {
  const FileDescriptor before = ConnectFrom(kStranger);
  EXPECT_EQ(Accept(), kStranger);
  Attach(Without(kStranger));
  ASSERT_EQ(send(before.get(), "word", 4, 0), 4);
  pollfd polled = {accepted_.get(), POLLIN, 0};
  EXPECT_EQ(poll(&polled, 1, 120000), 1);
  char got[8] = {};
  EXPECT_EQ(recv(accepted_.get(), got, sizeof(got), 0), 4);
}

TEST_F(SynFilterTest, KnownHostsComeInWhenOthersDoNot) {
  Attach({.known = {{false, {kOther, 0}}}, .shares = {}, .share_of_others = 0});
  const FileDescriptor held = ConnectFrom(kStranger);
  const FileDescriptor known = ConnectFrom(kOther);
  EXPECT_EQ(Accept(), kOther);
  EXPECT_TRUE(IsTrying(held));
}

TEST_F(SynFilterTest, APartIsAboutThatPart) {
  Attach({.known = {}, .shares = {{{false, {kStranger, 0}}, 0.25}}, .share_of_others = 1});
  int held = 0;
  for (int i = 0; i < 400; ++i) {
    const FileDescriptor asking = ConnectFrom(kStranger);
    if (IsTrying(asking)) {
      ++held;
    } else {
      Accept();
    }
  }
  // Seven standard deviations around 300.
  EXPECT_GE(held, 240);
  EXPECT_LE(held, 360);
}

TEST_F(SynFilterTest, TheLargestAdmissionFitsIntoTheKernel) {
  Admission largest = {.known = {}, .shares = {}, .share_of_others = 0.5};
  for (uint32_t i = 0; i < StrangerRates::kMostKnown; ++i) largest.known.push_back({true, {i, i}});
  for (uint32_t i = 0; i < StrangerRates::kMostLimited; ++i) largest.shares.push_back({{true, {i, ~i}}, 0.1});
  Attach(largest);
}

class SynFilterOverIpv6Test : public OwnNetworkTest {};

TEST_F(SynFilterOverIpv6Test, BothFamiliesAreToldApart) {
  FileDescriptor listener(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid()) GTEST_SKIP() << "no IPv6 here";
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) GTEST_SKIP() << "no ::1 here";
  ASSERT_EQ(listen(listener.get(), 8), 0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto is_let_in = [&](double share) {
    const absl::Status status =
        AttachSynFilter(listener.get(), {.known = {}, .shares = {{{true, {0, 0}}, share}}, .share_of_others = 1});
    EXPECT_TRUE(status.ok()) << status;
    const FileDescriptor asking(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    connect(asking.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
    tcp_info info = {};
    socklen_t info_size = sizeof(info);
    EXPECT_EQ(getsockopt(asking.get(), IPPROTO_TCP, TCP_INFO, &info, &info_size), 0);
    return info.tcpi_state == TCP_ESTABLISHED;
  };
  EXPECT_FALSE(is_let_in(0));
  EXPECT_TRUE(is_let_in(1));
}

}  // namespace
}  // namespace banyan
