// Hosts of which too many connections prove no key, on real sockets in a network of the test's own.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "access/key_file.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/transport.h"

namespace banyan {
namespace {

// Begins to connect to the port of `address` from an address of loopback. Its end is a reset: one that says goodbye
// keeps its port for a minute, and a flood has none left soon.
FileDescriptor ConnectFrom(const char* host, const std::string& address) {
  FileDescriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const linger reset = {1, 0};
  EXPECT_EQ(setsockopt(made.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
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

// Whether ZeroMQ has accepted the connection: it says something at once.
bool IsGreeted(const FileDescriptor& stranger) {
  char byte = 0;
  return recv(stranger.get(), &byte, 1, MSG_PEEK) == 1;
}

bool TellsOf(const std::vector<Event>& events, const std::string& words) {
  for (const Event& event : events) {
    const auto* rejected = std::get_if<MessageRejected>(&event);
    if (rejected != nullptr && absl::StrContains(rejected->reason.message(), words)) return true;
  }
  return false;
}

class StrangerFloodTest : public TransportTest {
 protected:
  void SetUp() override {
    if (!EnterOwnNetwork()) GTEST_SKIP() << "this machine lets nobody make a network namespace";
  }

  void Listen(int64_t most_failed_of_host_hz, int64_t most_failed_hz) {
    SocketLimits limits;
    limits.most_failed_of_host_hz = most_failed_of_host_hz;
    limits.most_failed_hz = most_failed_hz;
    auto server = Transport::Bind("tcp://127.0.0.1:0", limits, SecurityOptions{server_keys_, {}});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->Admit({{node_keys_.public_key, Role::kNode, "n1", NodeId(1)}}, SteadyNow());
  }

  // Strangers of all these hosts come, and stay until the server has seen them, until it says that it holds the last of
  // the hosts back. Returns what it has told.
  std::vector<Event> Flood(const std::vector<const char*>& hosts) {
    std::vector<Event> events;
    std::vector<FileDescriptor> strangers;
    while (!TellsOf(events, hosts.back())) {
      while (strangers.size() < kTogether) {
        for (const char* host : hosts) strangers.push_back(ConnectFrom(host, server_->bound_address()));
      }
      // ZeroMQ reports whom it accepts before it greets them.
      const auto seen = std::partition(strangers.begin(), strangers.end(), std::not_fn(IsGreeted));
      Collect(events);
      strangers.erase(seen, strangers.end());
    }
    return events;
  }
  void Collect(std::vector<Event>& events) {
    server_->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(20));
    server_->Collect(SteadyNow(), events);
  }

  static constexpr size_t kTogether = 20;
  const CurveKeys server_keys_ = MakeCurveKeys();
  const CurveKeys node_keys_ = MakeCurveKeys();
  std::unique_ptr<Transport> server_;
};

TEST_F(StrangerFloodTest, TheirHostIsHeldBackAndMembersComeIn) {
  Listen(5, 1000000);
  Flood({"127.0.0.2"});
  auto member = Transport::Bind("tcp://127.0.0.1:0", {}, SecurityOptions{node_keys_, {server_keys_.public_key}});
  ASSERT_TRUE(member.ok()) << member.status();
  EXPECT_NE(InboundOf(*server_, **member), ConnectionId());
  // Where a listed key has come from, other members may come from too.
  EXPECT_FALSE(TellsOf(Flood({"127.0.0.1", "127.0.0.3"}), "127.0.0.1"));
}

TEST_F(StrangerFloodTest, ThoseWhoAreGoneBeforeAnybodyLooksCountToo) {
  Listen(1000000, 5);
  std::vector<Event> events;
  while (!TellsOf(events, "unknown hosts")) {
    std::vector<FileDescriptor> strangers;
    while (strangers.size() < kTogether) strangers.push_back(ConnectFrom("127.0.0.2", server_->bound_address()));
    for (const FileDescriptor& stranger : strangers) {
      while (!IsGreeted(stranger)) absl::SleepFor(absl::Milliseconds(1));
    }
    strangers.clear();
    Collect(events);
  }
}

}  // namespace
}  // namespace banyan
