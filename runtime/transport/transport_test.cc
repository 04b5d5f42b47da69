#include "runtime/transport/transport.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "posix/port_reservation.h"
#include "posix/process_limits.h"
#include "posix/steady_clock.h"
#include "proto/wire.h"
#include "runtime/testing/testing_transport.h"

namespace banyan {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Some machines have no IPv6 at all.
bool HasIpv6() {
  const FileDescriptor fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback = {};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  return fd.valid() && bind(fd.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof(loopback)) == 0;
}

// The paces in bytes a second of this process's connections to a port, as the kernel has them.
std::vector<uint64_t> PacesOfConnectionsTo(const std::string& address) {
  std::vector<uint64_t> paces;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_in peer = {};
    socklen_t size = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET) continue;
    if (!absl::EndsWith(address, absl::StrCat(":", ntohs(peer.sin_port)))) continue;
    uint64_t pace = 0;
    size = sizeof(pace);
    if (getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, &size) == 0) paces.push_back(pace);
  }
  return paces;
}

TEST_F(TransportTest, MessagesGoBothWaysOnOneConnection) {
  auto server = Bind();
  auto client = Bind();
  client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 11), SteadyNow());
  const auto there = Collect(*server, Have<MessageReceived>(1), {client.get()});
  const auto& received = First<MessageReceived>(there);
  EXPECT_GE(received.connection, kInboundConnection);
  EXPECT_EQ(received.message, Message(Heartbeat{Timestamp::FromNanoseconds(11)}));
  server->Send(Beat(received.connection, 12), SteadyNow());
  const auto back = Collect(*client, Have<MessageReceived>(1), {server.get()});
  EXPECT_EQ(First<MessageReceived>(back).connection, kOut);
  EXPECT_EQ(First<MessageReceived>(back).message, Message(Heartbeat{Timestamp::FromNanoseconds(12)}));
  EXPECT_EQ(client->counters().Get().connections.at(kOut).sent_messages, 1u);
  EXPECT_GT(server->counters().Get().connections.at(received.connection).received_bytes, 0u);
}

// This process may have no more than so many descriptors while it lives; those that are there stay.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few = {.rlim_cur = most, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_ = {};
};

int64_t OpenDescriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

TEST_F(TransportTest, WithoutDescriptorsItSaysThatNobodyCanConnect) {
  auto server = Bind();
  auto client = Bind();
  const FewDescriptors few(3);
  const auto events = Collect(*server, Have<MessageRejected>(1));
  const absl::Status& reason = First<MessageRejected>(events).reason;
  EXPECT_TRUE(absl::IsResourceExhausted(reason));
  EXPECT_THAT(std::string(reason.message()), HasSubstr("no process can connect; this process may have 3 descriptors"));
  client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
  const auto failed = Collect(*client, Have<ConnectFailed>(1));
  EXPECT_THAT(First<ConnectFailed>(failed).reason, HasSubstr("no descriptor is left for the connection"));
}

TEST_F(TransportTest, MoreConnectionsThanThereAreDescriptorsForAreSaidOnce) {
  constexpr int64_t kConnections = 20;
  auto server = Bind();
  auto client = Bind();
  const int64_t before = OpenDescriptors();
  for (uint64_t i = 0; i < kConnections; ++i) {
    client->Connect({ConnectionId(kOut.value() + i), server->bound_address(), Channel::kControl}, SteadyNow());
  }
  Collect(*client, Have<ConnectionUp>(kConnections), {server.get()});
  // Both ends are in this process.
  EXPECT_LE(OpenDescriptors() - before, kConnections * Transport::kDescriptorsPerConnection);
  const int64_t needed = Transport::kOtherDescriptors + kConnections * Transport::kDescriptorsPerConnection;
  const FewDescriptors few(needed - 1);
  const auto events = Collect(*client, Have<MessageRejected>(1), {server.get()});
  EXPECT_THAT(std::string(First<MessageRejected>(events).reason.message()),
              HasSubstr(absl::StrCat("its 20 connections to others take up to ", needed, " descriptors")));
}

TEST_F(TransportTest, ConnectsToAPeerThatStartsLater) {
  // A port that nobody else is given, nor the client itself as its own end.
  const auto reserved = PortReservation::Take(1);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string address = reserved->Address(0);
  auto client = Bind();
  client->Connect({kOut, address, Channel::kControl}, SteadyNow());
  std::vector<Event> events;
  const Timestamp until = SteadyNow() + absl::Milliseconds(100);
  while (SteadyNow() < until) {
    client->Wait(wakeup_.fd(), until);
    client->Collect(SteadyNow(), events);
  }
  EXPECT_EQ(Count<ConnectionUp>(events), 0u);
  auto server = Bind(address);
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
}

TEST_F(TransportTest, AfterALossItComesUpAgainWithoutOldMessages) {
  const auto reserved = PortReservation::Take(1);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string address = reserved->Address(0);
  auto client = Bind();
  auto server = Bind(address);
  client->Connect({kOut, address, Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  server.reset();
  const auto down = Collect(*client, Have<ConnectionDown>(1));
  EXPECT_EQ(First<ConnectionDown>(down).connection, kOut);
  client->Send(Beat(kOut, 1), SteadyNow());
  EXPECT_EQ(client->counters().Get().dropped_sends, 1u);
  server = Bind(address);
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 2), SteadyNow());
  const auto there = Collect(*server, Have<MessageReceived>(1), {client.get()});
  EXPECT_EQ(First<MessageReceived>(there).message, Message(Heartbeat{Timestamp::FromNanoseconds(2)}));
}

TEST_F(TransportTest, TheEndOfAnInboundConnectionIsToldAfterItsMessages) {
  auto server = Bind();
  auto client = Bind();
  client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  constexpr size_t kMessages = 500;
  for (size_t i = 0; i < kMessages; ++i) client->Send(Beat(kOut, i), SteadyNow());
  client.reset();
  const auto events = Collect(*server, Have<ConnectionDown>(1));
  EXPECT_EQ(Count<MessageReceived>(events), kMessages);
  EXPECT_TRUE(std::holds_alternative<ConnectionDown>(events.back()));
  const ConnectionId gone = First<ConnectionDown>(events).connection;
  EXPECT_EQ(gone, First<MessageReceived>(events).connection);
  EXPECT_FALSE(server->Exists(gone));
  server->Send(Beat(gone, 1), SteadyNow());
  EXPECT_EQ(server->counters().Get().dropped_sends, 1u);
}

TEST_F(TransportTest, TheEndOfAnOutboundConnectionIsToldAfterItsMessages) {
  auto server = Bind();
  auto client = Bind();
  client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 0), SteadyNow());
  const ConnectionId inbound = First<MessageReceived>(Collect(*server, Have<MessageReceived>(1))).connection;
  constexpr size_t kMessages = 500;
  for (size_t i = 0; i < kMessages; ++i) server->Send(Beat(inbound, i), SteadyNow());
  server.reset();
  const auto events = Collect(*client, Have<ConnectionDown>(1));
  EXPECT_EQ(Count<MessageReceived>(events), kMessages);
  EXPECT_TRUE(std::holds_alternative<ConnectionDown>(events.back()));
}

TEST_F(TransportTest, AReconnectedPeerGetsANewInboundId) {
  auto server = Bind();
  std::vector<ConnectionId> seen;
  for (int i = 0; i < 3; ++i) {
    auto client = Bind();
    client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
    Collect(*client, Have<ConnectionUp>(1), {server.get()});
    client->Send(Beat(kOut, i), SteadyNow());
    const auto events = Collect(*server, Have<MessageReceived>(1), {client.get()});
    seen.push_back(First<MessageReceived>(events).connection);
  }
  EXPECT_LT(seen[0], seen[1]);
  EXPECT_LT(seen[1], seen[2]);
}

TEST_F(TransportTest, AClosedConnectionSaysNothingMore) {
  auto server = Bind();
  auto client = Bind();
  client->Connect({kOut, server->bound_address(), Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 1), SteadyNow());
  const auto events = Collect(*server, Have<MessageReceived>(1), {client.get()});
  server->Disconnect({First<MessageReceived>(events).connection}, SteadyNow());
  EXPECT_FALSE(server->Exists(First<MessageReceived>(events).connection));
  client->Send(Beat(kOut, 2), SteadyNow());
  ConnectionId second = ConnectionId(2);
  client->Connect({second, server->bound_address(), Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {});
  client->Send(Beat(second, 3), SteadyNow());
  const auto later = Collect(*server, Have<MessageReceived>(1), {client.get()});
  EXPECT_EQ(First<MessageReceived>(later).message, Message(Heartbeat{Timestamp::FromNanoseconds(3)}));
}

TEST_F(TransportTest, PayloadsTravelWithoutACopyAndAreReleased) {
  constexpr int64_t kElements = 100000;
  auto server = Bind();
  auto client = Bind();
  client->Connect({kOut, server->bound_address(), Channel::kData}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  std::vector<float> values(kElements);
  for (int64_t i = 0; i < kElements; ++i) values[i] = i;
  // Shared by the buffer's release callback and the test.
  auto released = std::make_shared<std::atomic<bool>>(false);
  {
    Buffer buffer = Buffer::Wrap(values.data(), kElements, DataType::kFloat32, MemoryKind::kHost,
                                 [released] { released->store(true); });
    client->Send({kOut, Chunk(kElements), {std::move(buffer)}}, SteadyNow());
  }
  const auto events = Collect(*server, Have<MessageReceived>(1), {client.get()});
  const auto& received = First<MessageReceived>(events);
  EXPECT_EQ(std::get<ChunkMessage>(received.message), Chunk(kElements));
  ASSERT_EQ(received.payload.size(), 1u);
  EXPECT_EQ(received.payload[0].AsFloats().floats(), absl::MakeConstSpan(values));
  client.reset();  // ends the I/O threads, which drop the last reference
  EXPECT_TRUE(released->load());
}

TEST_F(TransportTest, APeerMayNotChooseItsRoutingId) {
  auto server = Bind();
  zmq::context_t context;
  zmq::socket_t peer(context, zmq::socket_type::dealer);
  peer.set(zmq::sockopt::linger, 0);
  peer.set(zmq::sockopt::routing_id, "n1");
  peer.connect(server->bound_address());
  const std::string header = EncodeMessage(Heartbeat{});
  peer.send(zmq::buffer(header), zmq::send_flags::none);
  const auto events = Collect(*server, Have<MessageRejected>(1));
  EXPECT_EQ(Count<MessageReceived>(events), 0u);
  EXPECT_EQ(server->counters().Get().rejected_messages, 1u);
}

TEST_F(TransportTest, AFullConnectionIsMadeAnew) {
  SocketLimits limits;
  limits.send_high_water = 5;
  limits.receive_high_water = 5;
  limits.linger = absl::ZeroDuration();
  auto client = Bind("tcp://127.0.0.1:0", limits);
  auto server = Bind("tcp://127.0.0.1:0", limits);
  client->Connect({kOut, server->bound_address(), Channel::kData}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  const Buffer payload = Buffer::Allocate(1 << 18);
  for (int i = 0; i < 1000 && client->counters().Get().dropped_sends == 0; ++i) {
    client->Send({kOut, Chunk(payload.elements()), {payload}}, SteadyNow());
  }
  EXPECT_EQ(client->counters().Get().dropped_sends, 1u);
  const auto events = Collect(*client, Have<ConnectionUp>(1), {server.get()});
  EXPECT_EQ(Count<ConnectionDown>(events), 1u);
}

TEST_F(TransportTest, APaceHoldsForAConnectionAndItsSuccessor) {
  const auto reserved = PortReservation::Take(1);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  const std::string address = reserved->Address(0);
  auto server = Bind(address);
  auto client = Bind();
  client->Connect({kOut, address, Channel::kData}, SteadyNow());
  client->SetPace({kOut, 8e6});
  client->SetPace({ConnectionId(77), 8e6});
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  EXPECT_EQ(PacesOfConnectionsTo(address), std::vector<uint64_t>{1'000'000});
  client->SetPace({kOut, 16e6});
  EXPECT_EQ(PacesOfConnectionsTo(address), std::vector<uint64_t>{2'000'000});
  server.reset();
  Collect(*client, Have<ConnectionDown>(1));
  server = Bind(address);
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  EXPECT_EQ(PacesOfConnectionsTo(address), std::vector<uint64_t>{2'000'000});
  client->SetPace({kOut, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(PacesOfConnectionsTo(address), std::vector<uint64_t>{std::numeric_limits<uint64_t>::max()});
}

TEST_F(TransportTest, AnAddressWithoutSenseOnlyStaysDown) {
  auto client = Bind();
  client->Connect({kOut, "carrier pigeon", Channel::kControl}, SteadyNow());
  client->Send(Beat(kOut, 1), SteadyNow());
  EXPECT_EQ(client->counters().Get().dropped_sends, 1u);
  client->Disconnect({kOut}, SteadyNow());
  EXPECT_FALSE(client->Exists(kOut));
}

TEST_F(TransportTest, ListensOnNamesAndOnBothFamilies) {
  for (const char* listen : {"tcp://localhost:0", "tcp://*:0", "tcp://[::1]:0"}) {
    SCOPED_TRACE(listen);
    if (absl::StrContains(listen, "[") && !HasIpv6()) continue;
    auto server = Bind(listen);
    const std::string port = server->bound_address().substr(server->bound_address().rfind(':'));
    auto client = Bind();
    const bool is_ipv6 = server->bound_address().find("[::1]") != std::string::npos;
    client->Connect({kOut, (is_ipv6 ? "tcp://[::1]" : "tcp://127.0.0.1") + port, Channel::kControl}, SteadyNow());
    Collect(*client, Have<ConnectionUp>(1), {server.get()});
  }
}

TEST_F(TransportTest, ConnectsToANameAndTellsWhereItComesFrom) {
  auto server = Bind("tcp://*:0");
  auto client = Bind();
  const std::string port = server->bound_address().substr(server->bound_address().rfind(':'));
  client->Connect({kOut, "tcp://localhost" + port, Channel::kControl}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 1), SteadyNow());
  const std::vector<Event> events = Collect(*server, Have<MessageReceived>(1), {client.get()});
  EXPECT_THAT(First<ConnectionAccepted>(events).host, AnyOf("127.0.0.1", "::1"));
  EXPECT_EQ(First<ConnectionAccepted>(events).connection, First<MessageReceived>(events).connection);
}

TEST_F(TransportTest, SaysWhyAConnectionIsNotMade) {
  const auto port = PortReservation::Take(1);
  ASSERT_TRUE(port.ok());
  auto client = Bind();
  client->Connect({kOut, port->Address(0), Channel::kControl}, SteadyNow());
  EXPECT_EQ(First<ConnectFailed>(Collect(*client, Have<ConnectFailed>(1))).reason, "Connection refused");
}

// Long before the attempt is given up: peers are lost within seconds.
TEST_F(TransportTest, SaysThatSomebodyIsSilentAndGoesOnTrying) {
  const FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(place);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  SocketLimits limits;
  limits.silence_told = absl::Milliseconds(50);
  limits.connect_timeout = absl::Hours(1);
  auto client = Bind("tcp://127.0.0.1:0", limits);
  client->Connect({kOut, absl::StrCat("tcp://127.0.0.1:", ntohs(place.sin_port)), Channel::kControl}, SteadyNow());
  EXPECT_EQ(First<ConnectFailed>(Collect(*client, Have<ConnectFailed>(1))).reason,
            "it takes the connection, and is silent for more than 50ms");
}

TEST_F(TransportTest, SaysThatANameIsNotKnown) {
  auto client = Bind();
  client->Connect({kOut, "tcp://" + std::string(64, 'a') + ":1", Channel::kControl}, SteadyNow());
  EXPECT_THAT(First<ConnectFailed>(Collect(*client, Have<ConnectFailed>(1))).reason, HasSubstr("cannot be looked up"));
}

TEST_F(TransportTest, MakesAConnectionAnewWhenAsked) {
  auto server = Bind();
  auto client = Bind();
  InboundOf(*server, *client);
  client->Renew({kOut}, SteadyNow());
  const std::vector<Event> events = Collect(*client, Have<ConnectionUp>(1), {server.get()});
  EXPECT_EQ(Count<ConnectionDown>(events), 1u);
  // One that is down, or is not there, is left alone.
  client->Renew({ConnectionId(7)}, SteadyNow());
}

TEST_F(TransportTest, LeavesAConnectionAloneThatMoves) {
  auto server = Bind();
  auto client = Bind();
  const ConnectionId inbound = InboundOf(*server, *client);
  server->Send(Beat(inbound, 3), SteadyNow());
  Collect(*client, Have<MessageReceived>(1), {server.get()});
  // It moves as long as anything has just been acknowledged, and is made anew after that.
  std::vector<Event> events;
  int looks = 0;
  for (; Count<ConnectionDown>(events) == 0 && looks < 1000; ++looks) {
    client->Renew({kOut, /*unless_moving=*/true}, SteadyNow());
    client->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(10));
    client->Collect(SteadyNow(), events);
  }
  EXPECT_GT(looks, 1);
  EXPECT_LT(looks, 1000);
}

}  // namespace
}  // namespace banyan
