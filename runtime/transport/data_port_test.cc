// Chunks by the data port, between nodes with keys on real sockets, and whoever else comes there.

#include "runtime/transport/data_port.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "access/key_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/transport.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

Buffer Counting(int64_t elements) {
  Buffer payload = Buffer::Allocate(elements);
  for (int64_t i = 0; i < elements; ++i) payload.mutable_floats()[i] = static_cast<float>(i);
  return payload;
}

class DataPortTest : public TransportTest {
 protected:
  DataPortTest() : server_(Bind(server_keys_)), client_(Bind(client_keys_)) {
    AdmitAll(*server_);
    AdmitAll(*client_);
  }

  std::unique_ptr<Transport> Bind(const CurveKeys& keys, uint16_t data_port = 0) {
    auto transport = Transport::Bind("tcp://127.0.0.1:0", SocketLimits(), SecurityOptions{keys, {}, data_port});
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  }
  void AdmitAll(Transport& transport) {
    transport.Admit({{server_keys_.public_key, Role::kNode, "server", NodeId(1)},
                     {client_keys_.public_key, Role::kNode, "client", NodeId(2)}},
                    SteadyNow());
  }
  void Connect(Transport& server) {
    client_->Connect({kOut, server.bound_address(), Channel::kData, "server"}, SteadyNow());
    Collect(*client_, Have<ConnectionUp>(1), {&server});
  }
  // Says hello, and waits until chunks go by the data port. Returns the server's name for the connection.
  ConnectionId ReachDataPort() {
    Connect(*server_);
    client_->Send({kOut, HelloOf(2), {}}, SteadyNow());
    const auto events = Collect(*server_, Have<MessageReceived>(1), {client_.get()});
    Collect(*server_, [&](const std::vector<Event>&) { return client_->UsesDataPort(kOut); }, {client_.get()});
    return First<MessageReceived>(events).connection;
  }
  void SendChunk(int64_t elements) { client_->Send({kOut, Chunk(elements), {Counting(elements)}}, SteadyNow()); }

  const CurveKeys server_keys_ = MakeCurveKeys();
  const CurveKeys client_keys_ = MakeCurveKeys();
  std::unique_ptr<Transport> server_;
  std::unique_ptr<Transport> client_;
};

TEST_F(DataPortTest, ChunksCrossWholeOnTheSameConnection) {
  const ConnectionId inbound = ReachDataPort();
  constexpr int64_t kElements = 1 << 18;
  for (int i = 0; i < 3; ++i) SendChunk(kElements);
  const auto events = Collect(*server_, Have<MessageReceived>(3), {client_.get()});
  EXPECT_EQ(Count<ConnectionAccepted>(events), 0u);
  for (const Event& event : events) {
    const auto* received = std::get_if<MessageReceived>(&event);
    if (received == nullptr) continue;
    EXPECT_EQ(received->connection, inbound);
    ASSERT_EQ(received->payload.size(), 1u);
    const Buffer whole = received->payload[0].AsFloats();
    ASSERT_EQ(whole.elements(), kElements);
    const Buffer expected = Counting(kElements);
    EXPECT_TRUE(std::equal(whole.floats().begin(), whole.floats().end(), expected.floats().begin()));
  }
  server_->Send(Beat(inbound, 7), SteadyNow());
  const auto answer = Collect(*client_, Have<MessageReceived>(1), {server_.get()});
  EXPECT_EQ(First<MessageReceived>(answer).message, Message(Heartbeat{Timestamp::FromNanoseconds(7)}));
}

TEST_F(DataPortTest, ControlConnectionsAndThoseWithoutKeysAskForNoTicket) {
  client_->Connect({kOut, server_->bound_address(), Channel::kControl, "server"}, SteadyNow());
  Collect(*client_, Have<ConnectionUp>(1), {server_.get()});
  for (int i = 0; i < 20; ++i) {
    client_->Send({kOut, HelloOf(2), {}}, SteadyNow());
    Collect(*server_, Have<MessageReceived>(1), {client_.get()});
  }
  EXPECT_FALSE(client_->UsesDataPort(kOut));
}

TEST_F(DataPortTest, AKeyThatIsTakenFromTheListLosesTheDataConnectionToo) {
  const ConnectionId inbound = ReachDataPort();
  server_->Admit({{server_keys_.public_key, Role::kNode, "server", NodeId(1)}}, SteadyNow());
  EXPECT_FALSE(server_->Exists(inbound));
  SendChunk(1000);
  const auto events = Collect(*client_, Have<ConnectionDown>(1), {server_.get()});
  EXPECT_EQ(First<ConnectionDown>(events).connection, kOut);
  std::vector<Event> seen;
  server_->Collect(SteadyNow(), seen);
  EXPECT_EQ(Count<MessageReceived>(seen), 0u);
}

TEST_F(DataPortTest, WhatWasSentBeforeTheOpenerClosesArrives) {
  const ConnectionId inbound = ReachDataPort();
  constexpr int kChunks = 20;
  for (int i = 0; i < kChunks; ++i) SendChunk(1 << 16);
  client_->Disconnect({kOut}, SteadyNow());
  const auto events = Collect(*server_, Have<ConnectionDown>(1), {client_.get()});
  EXPECT_EQ(Count<MessageReceived>(events), static_cast<size_t>(kChunks));
  EXPECT_EQ(Count<ConnectionDown>(events), 1u);
  EXPECT_EQ(First<ConnectionDown>(events).connection, inbound);
  EXPECT_FALSE(server_->Exists(inbound));
}

TEST_F(DataPortTest, AConnectionThatIsMadeAnewGoesByTheDataPortAgain) {
  ReachDataPort();
  client_->Renew({kOut}, SteadyNow());
  Collect(*client_, Have<ConnectionUp>(1), {server_.get()});
  client_->Send({kOut, HelloOf(2), {}}, SteadyNow());
  Collect(*server_, [&](const std::vector<Event>&) { return client_->UsesDataPort(kOut); }, {client_.get()});
}

// The port that the ticket names is somebody else's here: chunks go the other way, and that is told.
TEST_F(DataPortTest, WhereThePortCannotBeHadChunksGoTheOtherWay) {
  auto taken = TransportTest::Bind();
  const std::string address = taken->bound_address();
  const auto port = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  auto server = Bind(server_keys_, port);
  AdmitAll(*server);
  Connect(*server);
  client_->Send({kOut, HelloOf(2), {}}, SteadyNow());
  const auto events = Collect(*server, Have<MessageRejected>(1), {client_.get()});
  EXPECT_THAT(std::string(First<MessageRejected>(events).reason.message()), HasSubstr("no data port: cannot listen"));
  SendChunk(1000);
  Collect(*server, Have<MessageReceived>(1), {client_.get()});
  EXPECT_FALSE(client_->UsesDataPort(kOut));
}

// ---- whoever comes there without a ticket ----

// A ZeroMQ socket at the server's data port, as anybody can make one.
class DataPortStrangerTest : public DataPortTest {
 protected:
  DataPortStrangerTest() : stranger_(context_, zmq::socket_type::dealer) {
    stranger_.set(zmq::sockopt::linger, 0);
    ReachDataPort();
  }

  std::string PortAddress() { return absl::StrCat("tcp://127.0.0.1:", server_->data_port()); }
  // Has the stranger say this, and returns what the server tells of it.
  std::string Say(std::vector<std::string> frames) {
    stranger_.connect(PortAddress());
    for (size_t i = 0; i < frames.size(); ++i) {
      stranger_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
    const auto events = Collect(*server_, Have<MessageRejected>(1), {client_.get()});
    EXPECT_EQ(Count<MessageReceived>(events), 0u);
    EXPECT_EQ(Count<ConnectionAccepted>(events), 0u);
    return std::string(First<MessageRejected>(events).reason.message());
  }

  zmq::context_t context_;
  zmq::socket_t stranger_;
};

TEST_F(DataPortStrangerTest, IsNotLetIn) {
  const std::string token(DataTicket::kTokenBytes, 't');
  for (const std::vector<std::string>& frames :
       {std::vector<std::string>{""}, std::vector<std::string>{token}, std::vector<std::string>{token, "proof"},
        std::vector<std::string>{token, std::string(kAeadTagBytes, '\0')},
        std::vector<std::string>{std::string(1 << 20, 'x')}}) {
    EXPECT_THAT(Say(frames), HasSubstr("to the data port without a ticket"));
  }
  // And whoever is there goes on.
  SendChunk(1000);
  Collect(*server_, Have<MessageReceived>(1), {client_.get()});
}

// The port alone, and the sockets of whoever has a ticket for the connection 5.
class DataPortTicketTest : public testing::Test {
 protected:
  void SetUp() override {
    auto port = DataPort::Listen(poller_, "tcp://127.0.0.1:0", 0, SocketLimits());
    ASSERT_TRUE(port.ok()) << port.status();
    port_ = *std::move(port);
  }

  DataTicket Issue() { return port_->Issue(kConnection, "key", FastestAead()); }
  // Comes with the ticket's token and what `sealer` seals. Returns the socket when the port has read it.
  std::unique_ptr<zmq::socket_t> Come(const DataTicket& ticket, FrameSealer sealer) {
    auto socket = std::make_unique<zmq::socket_t>(context_, zmq::socket_type::dealer);
    socket->set(zmq::sockopt::linger, 0);
    socket->connect(absl::StrCat("tcp://127.0.0.1:", ticket.port));
    std::vector<zmq::message_t> hello = DataHello(ticket.token, sealer);
    EXPECT_EQ(SendFrames(*socket, hello), SendResult::kSent);
    EXPECT_TRUE(AwaitMessage());
    return socket;
  }
  bool AwaitMessage() {
    return Await([&] { return port_->Receive().has_value(); });
  }
  // Turns the port until `happens`.
  bool Await(const std::function<bool()>& happens) {
    const Timestamp deadline = SteadyNow() + absl::Seconds(60);
    while (SteadyNow() < deadline) {
      port_->Watch();
      if (happens()) return true;
      poller_.Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(10));
    }
    return false;
  }

  static constexpr ConnectionId kConnection = ConnectionId(5);
  SocketPoller poller_{64};
  EventQueue wakeup_;
  zmq::context_t context_;
  std::unique_ptr<DataPort> port_;
};

// Somebody between the two has seen the token, which is sent in clear, and cannot make the proof.
TEST_F(DataPortTicketTest, ATokenWithoutTheKeyLetsNobodyInAndSpoilsNothing) {
  const DataTicket ticket = Issue();
  Come(ticket, FrameSealer(ticket.aead, AeadKey{}));
  EXPECT_FALSE(port_->Has(kConnection));
  EXPECT_EQ(port_->TakeRefused(), 1);
  const auto owner = Come(ticket, FrameSealer(ticket.aead, ticket.to_acceptor));
  EXPECT_TRUE(port_->Has(kConnection));
  // It is good for one connection.
  Come(ticket, FrameSealer(ticket.aead, ticket.to_acceptor));
  EXPECT_EQ(port_->TakeRefused(), 1);
}

// A node that misbehaves asks for another ticket beside a connection that is there.
TEST_F(DataPortTicketTest, ASecondConnectionBesideTheFirstIsNotLetIn) {
  const DataTicket first = Issue();
  auto one = Come(first, FrameSealer(first.aead, first.to_acceptor));
  const DataTicket second = Issue();
  FrameSealer sealer(second.aead, second.to_acceptor);
  std::vector<zmq::message_t> hello = DataHello(second.token, sealer);
  zmq::socket_t other(context_, zmq::socket_type::dealer);
  other.set(zmq::sockopt::linger, 0);
  other.connect(absl::StrCat("tcp://127.0.0.1:", second.port));
  EXPECT_EQ(SendFrames(other, hello), SendResult::kSent);
  ASSERT_TRUE(AwaitMessage());
  EXPECT_EQ(port_->TakeRefused(), 1);
  EXPECT_TRUE(port_->Has(kConnection));
  // The first one goes, and nothing that comes afterwards finds a place that is no more.
  one.reset();
  EXPECT_TRUE(Await([&] {
    port_->Receive();
    return !port_->TakeLost().empty();
  }));
  EXPECT_FALSE(port_->Has(kConnection));
}

TEST(DataTicketTest, TicketsComeBackAndAnythingElseIsRefused) {
  DataTicket ticket;
  ticket.aead = Aead::kChaCha20Poly1305;
  ticket.port = 51234;
  ticket.token.fill(1);
  ticket.to_acceptor.fill(2);
  ticket.to_opener.fill(3);
  std::vector<zmq::message_t> answer = TicketAnswer(ticket);
  EXPECT_TRUE(IsAboutTickets(answer));
  EXPECT_EQ(*ReadTicketAnswer(answer), ticket);
  EXPECT_EQ(*ReadTicketAnswer(TicketAnswer(std::nullopt)), std::nullopt);
  EXPECT_EQ(*ReadTicketRequest(TicketRequest(Aead::kAes256Gcm)), Aead::kAes256Gcm);
  const std::string whole(BytesOf(answer[1]));
  for (const std::string& body : {std::string(), std::string("\2", 1), whole.substr(0, whole.size() - 1), whole + "x",
                                  std::string("\1\3") + whole.substr(2)}) {
    std::vector<zmq::message_t> frames;
    frames.emplace_back();
    frames.emplace_back(body.data(), body.size());
    EXPECT_FALSE(ReadTicketAnswer(frames).ok());
    EXPECT_FALSE(ReadTicketRequest(frames).ok());
  }
}

}  // namespace
}  // namespace banyan
