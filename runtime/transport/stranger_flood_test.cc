// Hosts of which too many connections prove no key, on real sockets in a network of the test's own.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "access/key_file.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/own_network.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/transport.h"

namespace banyan {
namespace {

// Begins to connect to the port of `address` from an address of loopback.
FileDescriptor ConnectFrom(const char* host, const std::string& address) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in from = {};
  from.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, host, &from.sin_addr), 1);
  EXPECT_EQ(bind(made.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)), 0);
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to));
  return made;
}

bool TellsOf(const std::vector<Event>& events, const std::string& host) {
  for (const Event& event : events) {
    const auto* rejected = std::get_if<MessageRejected>(&event);
    if (rejected != nullptr && absl::StrContains(rejected->reason.message(), host)) return true;
  }
  return false;
}

class StrangerFloodTest : public TransportTest {
 protected:
  StrangerFloodTest() {
    if (!EnterOwnNetwork()) return;
    SocketLimits limits;
    limits.most_failed_of_host_hz = 5;
    auto server = Transport::Bind("tcp://127.0.0.1:0", limits, SecurityOptions{server_keys_, {}});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->Admit({{node_keys_.public_key, Role::kNode, "n1", NodeId(1)}}, SteadyNow());
  }
  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << "this machine lets nobody make a network namespace";
  }

  // Strangers of all these hosts come and go until the server says that it holds the last of them back. Returns what it
  // has told.
  std::vector<Event> Flood(const std::vector<const char*>& hosts) {
    std::vector<Event> events;
    const Timestamp deadline = SteadyNow() + absl::Seconds(20);
    while (!TellsOf(events, hosts.back()) && SteadyNow() < deadline) {
      for (int i = 0; i < 20; ++i) {
        for (const char* host : hosts) ConnectFrom(host, server_->bound_address());
      }
      server_->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(20));
      server_->Collect(SteadyNow(), events);
    }
    EXPECT_TRUE(TellsOf(events, hosts.back()));
    return events;
  }

  const CurveKeys server_keys_ = MakeCurveKeys();
  const CurveKeys node_keys_ = MakeCurveKeys();
  std::unique_ptr<Transport> server_;
};

TEST_F(StrangerFloodTest, TheirHostIsHeldBackAndMembersComeIn) {
  Flood({"127.0.0.2"});
  auto member = Transport::Bind("tcp://127.0.0.1:0", {}, SecurityOptions{node_keys_, {server_keys_.public_key}});
  ASSERT_TRUE(member.ok()) << member.status();
  EXPECT_NE(InboundOf(*server_, **member), ConnectionId());
  // Where a listed key has come from, other members may come from too.
  EXPECT_FALSE(TellsOf(Flood({"127.0.0.1", "127.0.0.3"}), "127.0.0.1"));
}

}  // namespace
}  // namespace banyan
