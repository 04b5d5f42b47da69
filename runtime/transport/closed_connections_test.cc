// How connections end that one side closes, kills or abuses.

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "posix/steady_clock.h"
#include "proto/wire.h"
#include "runtime/testing/child_processes.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/testing/zmtp_bytes.h"
#include "runtime/transport/transport.h"
#include "zmq.hpp"

namespace banyan {
namespace {

// A connection to a transport without ZeroMQ at its end.
class RawPeer {
 public:
  explicit RawPeer(const std::string& address) : socket_(ConnectByTcp(address)) {
    EXPECT_TRUE(Send(ZmtpHandshake()));
    std::string answer;
    while (ZmtpHandshakeSize(answer) == 0 && Read(answer)) {
    }
    EXPECT_NE(ZmtpHandshakeSize(answer), 0u);
  }

  // Sends what was left of the last time, or `bytes`, as far as the kernel has room. Returns whether the other side has
  // not ended the connection.
  bool Send(absl::string_view bytes) {
    if (unsent_.empty()) unsent_ = std::string(bytes);
    const ssize_t sent = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) unsent_.erase(0, sent);
    return sent >= 0 || errno == EAGAIN;
  }

  // Reads what has come; false once the other side has ended the connection.
  bool Read(std::string& bytes) {
    char some[1 << 16];
    ssize_t got = 0;
    while ((got = recv(socket_.get(), some, sizeof(some), MSG_DONTWAIT)) > 0) bytes.append(some, got);
    return got < 0 && errno == EAGAIN;
  }

 private:
  FileDescriptor socket_;
  std::string unsent_;
};

std::string BeatBytes() { return ZmtpFrame(EncodeMessage(Heartbeat{})); }

using ClosedConnectionsTest = TransportTest;

TEST_F(ClosedConnectionsTest, TheOpenerHearsOfItsEndAfterWhatWasSentAndDialsAgain) {
  auto server = Bind();
  auto client = Bind();
  const ConnectionId inbound = InboundOf(*server, *client);
  server->Send(Beat(inbound, 5), SteadyNow());
  server->Disconnect({inbound}, SteadyNow());
  EXPECT_FALSE(server->Exists(inbound));
  const auto events = Collect(*client, Have<ConnectionUp>(1), {server.get()});
  ASSERT_EQ(Count<MessageReceived>(events), 1u);
  EXPECT_EQ(First<MessageReceived>(events).message, Message(Heartbeat{Timestamp::FromNanoseconds(5)}));
  EXPECT_EQ(Count<ConnectionDown>(events), 1u);
  EXPECT_EQ(First<ConnectionDown>(events).connection, kOut);
  client->Send(Beat(kOut, 6), SteadyNow());
  const auto there = Collect(*server, Have<MessageReceived>(1), {client.get()});
  EXPECT_GT(First<MessageReceived>(there).connection, inbound);
  EXPECT_EQ(First<MessageReceived>(there).message, Message(Heartbeat{Timestamp::FromNanoseconds(6)}));
}

TEST_F(ClosedConnectionsTest, ClosingTwiceOrWhatHasEndedDoesNoHarm) {
  auto server = Bind();
  auto client = Bind();
  const ConnectionId first = InboundOf(*server, *client);
  server->Disconnect({first}, SteadyNow());
  server->Disconnect({first}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send(Beat(kOut, 1), SteadyNow());
  const auto second = First<MessageReceived>(Collect(*server, Have<MessageReceived>(1), {client.get()})).connection;
  client.reset();
  const auto events = Collect(*server, Have<ConnectionDown>(1));
  EXPECT_EQ(First<ConnectionDown>(events).connection, second);
  server->Disconnect({second}, SteadyNow());
  server->Disconnect({ConnectionId(second.value() + 1)}, SteadyNow());
  auto other = Bind();
  EXPECT_GT(InboundOf(*server, *other), second);
}

TEST_F(ClosedConnectionsTest, APeerThatDoesNotGoAwayLosesItsConnection) {
  SocketLimits limits;
  limits.linger = absl::Milliseconds(100);
  auto server = Bind("tcp://127.0.0.1:0", limits);
  RawPeer peer(server->bound_address());
  ASSERT_TRUE(peer.Send(BeatBytes()));
  const auto events = Collect(*server, Have<MessageReceived>(1));
  server->Disconnect({First<MessageReceived>(events).connection, "this is n1"}, SteadyNow());
  std::string heard;
  bool goes_on = true;
  const auto later = Collect(*server, [&](const std::vector<Event>&) {
    goes_on = goes_on && peer.Send(BeatBytes()) && peer.Read(heard);
    return !goes_on;
  });
  EXPECT_EQ(Count<MessageReceived>(later), 0u);
  EXPECT_EQ(Count<ConnectionDown>(later), 0u);
  EXPECT_NE(heard.find(EncodeMessage(GoAway{"this is n1"})), std::string::npos);
}

TEST_F(ClosedConnectionsTest, APeerThatDoesNotReadHearsOfTheEndOnceItDoes) {
  SocketLimits limits;
  limits.send_high_water = 5;
  auto server = Bind("tcp://127.0.0.1:0", limits);
  auto client = Bind();
  const ConnectionId inbound = InboundOf(*server, *client);
  const Buffer payload = Buffer::Allocate(1 << 18);
  while (server->counters().Get().dropped_sends == 0) {
    server->Send({inbound, Chunk(payload.elements()), {payload}}, SteadyNow());
  }
  EXPECT_FALSE(server->Exists(inbound));
  const auto events = Collect(*server, Have<ConnectionDown>(1));
  EXPECT_EQ(First<ConnectionDown>(events).connection, inbound);
  const auto heard = Collect(*client, Have<ConnectionUp>(1), {server.get()});
  EXPECT_EQ(Count<ConnectionDown>(heard), 1u);
}

TEST_F(ClosedConnectionsTest, ADisconnectOfAFullConnectionIsHeard) {
  SocketLimits limits;
  limits.send_high_water = 5;
  auto server = Bind("tcp://127.0.0.1:0", limits);
  RawPeer peer(server->bound_address());
  ASSERT_TRUE(peer.Send(BeatBytes()));
  const auto inbound = First<MessageReceived>(Collect(*server, Have<MessageReceived>(1))).connection;
  // The last one that fits in still is one message: then the queue is full.
  const Buffer payload = Buffer::Allocate(1 << 18);
  for (int i = 0; i < 1000 && server->Exists(inbound); ++i) {
    server->Send({inbound, Chunk(payload.elements()), {payload}}, SteadyNow());
  }
  server->Disconnect({inbound}, SteadyNow());
  std::string heard;
  bool goes_on = true;
  Collect(*server, [&](const std::vector<Event>&) {
    goes_on = goes_on && peer.Read(heard);
    return !goes_on;
  });
  EXPECT_FALSE(goes_on);
}

TEST_F(ClosedConnectionsTest, AnOpenerMustNotSendGoAway) {
  auto server = Bind();
  RawPeer peer(server->bound_address());
  ASSERT_TRUE(peer.Send(ZmtpFrame(EncodeMessage(GoAway{"and stay away"})) + BeatBytes()));
  const auto events = Collect(*server, Have<MessageReceived>(1));
  EXPECT_EQ(Count<MessageRejected>(events), 1u);
  EXPECT_EQ(First<MessageRejected>(events).connection, First<MessageReceived>(events).connection);
  EXPECT_EQ(server->counters().Get().rejected_messages, 1u);
}

TEST_F(ClosedConnectionsTest, AFloodOfGoAwayEndsAConnectionOnceEach) {
  zmq::context_t context;
  zmq::socket_t acceptor(context, zmq::socket_type::router);
  acceptor.set(zmq::sockopt::linger, 0);
  acceptor.bind("tcp://127.0.0.1:*");
  auto client = Bind();
  client->Connect({kOut, acceptor.get(zmq::sockopt::last_endpoint), Channel::kControl}, SteadyNow());
  const std::string go_away = EncodeMessage(GoAway{"not you"});
  constexpr size_t kConnections = 3;
  size_t greeted = 0;
  const auto flood = [&] {
    zmq::message_t route;
    while (acceptor.recv(route, zmq::recv_flags::dontwait)) {
      zmq::message_t body;
      (void)acceptor.recv(body, zmq::recv_flags::none);
      for (int i = 0; i < 100; ++i) {
        acceptor.send(zmq::buffer(route.to_string()), zmq::send_flags::sndmore);
        acceptor.send(zmq::buffer(go_away), zmq::send_flags::none);
      }
      acceptor.send(zmq::buffer(route.to_string()), zmq::send_flags::sndmore);
      acceptor.send(zmq::buffer(EncodeMessage(Heartbeat{})), zmq::send_flags::none);
    }
  };
  const auto events = Collect(*client, [&](const std::vector<Event>& so_far) {
    for (; greeted < Count<ConnectionUp>(so_far); ++greeted) client->Send(Beat(kOut, 1), SteadyNow());
    flood();
    return Count<ConnectionDown>(so_far) >= kConnections;
  });
  EXPECT_EQ(Count<ConnectionUp>(events), kConnections);
  EXPECT_EQ(Count<ConnectionDown>(events), kConnections);
  EXPECT_EQ(Count<MessageReceived>(events), 0u);
  EXPECT_EQ(Count<MessageRejected>(events), 0u);
}

// ZeroMQ keeps the frames of a message until the last one comes, and no limit of its own is on their number.
TEST_F(ClosedConnectionsTest, AMessageWithoutEndEndsItsConnectionAlone) {
  SocketLimits limits;
  limits.max_stranger_bytes = 1 << 20;
  auto server = Bind("tcp://127.0.0.1:0", limits);
  auto client = Bind();
  const ConnectionId inbound = InboundOf(*server, *client);
  RawPeer peer(server->bound_address());
  std::string frames;
  for (int i = 0; i < 10000; ++i) frames += ZmtpFrame("x", /*more=*/true);
  std::string heard;
  bool goes_on = true;
  const auto events = Collect(*server,
                              [&](const std::vector<Event>&) {
                                // A stream that is cut anywhere goes on as noise, which ends it as well: so only whole
                                // ones are sent.
                                goes_on = goes_on && peer.Send(frames) && peer.Read(heard);
                                return !goes_on;
                              },
                              {client.get()});
  EXPECT_EQ(Count<MessageReceived>(events), 0u);
  EXPECT_EQ(Count<ConnectionDown>(events), 0u);
  EXPECT_EQ(server->counters().Get().rejected_messages, 1u);
  EXPECT_TRUE(server->Exists(inbound));
}

TEST_F(ClosedConnectionsTest, StrangersTogetherHaveNoMoreRoomThanOne) {
  SocketLimits limits;
  limits.max_stranger_bytes = 1 << 20;
  auto server = Bind("tcp://127.0.0.1:0", limits);
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(std::make_unique<RawPeer>(server->bound_address()));
  std::string frames;
  for (int i = 0; i < 150000; ++i) frames += ZmtpFrame("x", /*more=*/true);
  for (const auto& peer : peers) ASSERT_TRUE(peer->Send(frames));
  size_t ended = 0;
  Collect(*server, [&](const std::vector<Event>&) {
    std::string heard;
    ended = 0;
    for (const auto& peer : peers) ended += peer->Send("") && peer->Read(heard) ? 0 : 1;
    return ended >= 2;
  });
  EXPECT_EQ(ended, 2u);
  EXPECT_EQ(server->counters().Get().rejected_messages, 2u);
}

TEST_F(ClosedConnectionsTest, ManyWholeMessagesAreNoneWithoutEnd) {
  SocketLimits limits;
  limits.max_message_bytes = 1 << 20;
  auto server = Bind("tcp://127.0.0.1:0", limits);
  auto client = Bind();
  InboundOf(*server, *client);
  const Buffer payload = Buffer::Allocate(1 << 16);
  constexpr size_t kMessages = 200;
  size_t sent = 0;
  const auto events = Collect(*server,
                              [&](const std::vector<Event>& so_far) {
                                if (sent < kMessages)
                                  client->Send({kOut, Chunk(payload.elements()), {payload}}, SteadyNow());
                                ++sent;
                                return Count<MessageReceived>(so_far) >= kMessages;
                              },
                              {client.get()});
  EXPECT_EQ(Count<ConnectionDown>(events), 0u);
  EXPECT_EQ(server->counters().Get().rejected_messages, 0u);
}

// A process of its own that connects to `address`, greets, and stays.
[[noreturn]] void LiveAsAPeer(const std::string& address) {
  auto transport = Transport::Bind("tcp://127.0.0.1:0", {});
  EventQueue wakeup;
  (*transport)->Connect({kOut, address, Channel::kControl}, SteadyNow());
  while (true) {
    std::vector<Event> events;
    (*transport)->Wait(wakeup.fd(), kNever);
    (*transport)->Collect(SteadyNow(), events);
    for (const Event& event : events) {
      if (std::holds_alternative<ConnectionUp>(event)) (*transport)->Send(Beat(kOut, 1), SteadyNow());
    }
  }
}

class KilledProcessDeathTest : public TransportTest {
 protected:
  // Suites of such names run before others.
  static void SetUpTestSuite() { children_ = std::make_unique<ChildProcesses>(LiveAsAPeer); }
  static void TearDownTestSuite() { children_.reset(); }

  void SetUp() override {
    server_ = Bind();
    child_ = children_->Start(server_->bound_address());
    inbound_ = First<MessageReceived>(Collect(*server_, Have<MessageReceived>(1))).connection;
  }

  // Nothing but the end of the connection says so: a transport knows no heartbeats.
  void ExpectItsEndIsHeard() {
    kill(child_, SIGKILL);
    EXPECT_EQ(waitpid(child_, nullptr, 0), child_);
    const auto events = Collect(*server_, Have<ConnectionDown>(1));
    EXPECT_EQ(First<ConnectionDown>(events).connection, inbound_);
    EXPECT_FALSE(server_->Exists(inbound_));
  }

  static inline std::unique_ptr<ChildProcesses> children_;
  pid_t child_ = -1;
  std::unique_ptr<Transport> server_;
  ConnectionId inbound_;
};

TEST_F(KilledProcessDeathTest, ItsEndIsHeard) { ExpectItsEndIsHeard(); }

TEST_F(KilledProcessDeathTest, ItsEndIsHeardBehindWhatItNeverRead) {
  kill(child_, SIGSTOP);
  const Buffer payload = Buffer::Allocate(1 << 18);
  for (int i = 0; i < 200; ++i) server_->Send({inbound_, Chunk(payload.elements()), {payload}}, SteadyNow());
  ExpectItsEndIsHeard();
}

// Descriptors are used again and again, while nobody looks.
TEST_F(ClosedConnectionsTest, OfManyThatComeAndGoEachEndIsToldOnceAfterItsMessage) {
  auto server = Bind();
  constexpr size_t kPeers = 40;
  for (size_t i = 0; i < kPeers; ++i) ASSERT_TRUE(RawPeer(server->bound_address()).Send(BeatBytes()));
  const auto events = Collect(*server, Have<ConnectionDown>(kPeers));
  std::set<ConnectionId> open;
  for (const Event& event : events) {
    if (const auto* received = std::get_if<MessageReceived>(&event)) {
      EXPECT_TRUE(open.insert(received->connection).second);
    }
    if (const auto* down = std::get_if<ConnectionDown>(&event)) {
      EXPECT_EQ(open.erase(down->connection), 1u);
    }
  }
  EXPECT_EQ(Count<MessageReceived>(events), kPeers);
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace banyan
