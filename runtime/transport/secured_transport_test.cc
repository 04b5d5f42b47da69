// Who is let in, and what is heard of those who are not, on real sockets.

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "access/key_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/transport.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class SecuredTransportTest : public TransportTest {
 protected:
  SecuredTransportTest() : server_(Bind(server_keys_, {})) {
    server_->Admit({{node_keys_.public_key, Role::kNode, "n1", NodeId(1)},
                    {watcher_keys_.public_key, Role::kObserver, "bob", NodeId()}},
                   SteadyNow());
  }

  // Of a process with these keys that trusts the server.
  std::unique_ptr<Transport> Bind(const CurveKeys& keys, std::vector<std::string> scheduler_keys,
                                  SocketLimits limits = {}) {
    auto transport = Transport::Bind("tcp://127.0.0.1:0", limits, SecurityOptions{keys, std::move(scheduler_keys)});
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  }
  std::unique_ptr<Transport> Client(const CurveKeys& keys) { return Bind(keys, {server_keys_.public_key}); }

  void Connect(Transport& client, const std::string& peer = "") {
    client.Connect({kOut, server_->bound_address(), Channel::kControl, peer}, SteadyNow());
  }
  // Connects, and returns why that does not come about.
  std::string WhyNot(Transport& client) {
    Connect(client);
    const auto events = Collect(client, Have<ConnectFailed>(1), {server_.get()});
    EXPECT_EQ(Count<ConnectionUp>(events), 0u);
    return First<ConnectFailed>(events).reason;
  }
  // Has the client say something, and returns what the server tells of it.
  std::vector<Event> Hear(Transport& client, Message message) {
    Connect(client);
    Collect(client, Have<ConnectionUp>(1), {server_.get()});
    client.Send({kOut, std::move(message), {}}, SteadyNow());
    return Collect(*server_,
                   [](const std::vector<Event>& events) {
                     return Count<MessageReceived>(events) + Count<MessageRejected>(events) > 0;
                   },
                   {&client});
  }

  // Has the client say what it may not. Returns what the client hears of that, until it is sent away.
  std::vector<Event> BeRefused(Transport& client, Message message) {
    Connect(client);
    Collect(client, Have<ConnectionUp>(1), {server_.get()});
    client.Send({kOut, std::move(message), {}}, SteadyNow());
    std::vector<Event> heard;
    std::vector<Event> seen;
    const Timestamp deadline = SteadyNow() + absl::Seconds(120);
    while (Count<ConnectFailed>(heard) == 0 && SteadyNow() < deadline) {
      for (const auto& [transport, events] : {std::pair(server_.get(), &seen), std::pair(&client, &heard)}) {
        transport->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(1));
        transport->Collect(SteadyNow(), *events);
      }
    }
    EXPECT_EQ(Count<MessageReceived>(seen), 0u);
    EXPECT_EQ(Count<MessageRejected>(seen), 1u);
    EXPECT_EQ(Count<ConnectionDown>(seen), 1u);
    EXPECT_EQ(Count<ConnectionDown>(heard), 1u);
    return heard;
  }

  const CurveKeys server_keys_ = MakeCurveKeys();
  const CurveKeys node_keys_ = MakeCurveKeys();
  const CurveKeys watcher_keys_ = MakeCurveKeys();
  std::unique_ptr<Transport> server_;
};

Join JoinAs(const std::string& name) {
  Join join;
  join.name = name;
  join.address = "tcp://127.0.0.1:1";
  join.incarnation = Incarnation(5);
  return join;
}

bool IsClosedByPeer(const FileDescriptor& socket) {
  char some[256];
  ssize_t got = 0;
  while ((got = recv(socket.get(), some, sizeof(some), MSG_DONTWAIT)) > 0) {
  }
  return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

TEST_F(SecuredTransportTest, AListedKeyComesInAndIsNamed) {
  auto client = Client(node_keys_);
  const auto events = Hear(*client, JoinAs("n1"));
  ASSERT_EQ(Count<MessageRejected>(events), 0u) << First<MessageRejected>(events).reason;
  EXPECT_EQ(First<MessageReceived>(events).message, Message(JoinAs("n1")));
  EXPECT_EQ(First<ConnectionAccepted>(events).public_key, node_keys_.public_key);
  server_->Send(Beat(First<MessageReceived>(events).connection, 7), SteadyNow());
  const auto answer = Collect(*client, Have<MessageReceived>(1), {server_.get()});
  EXPECT_EQ(First<MessageReceived>(answer).message, Message(Heartbeat{Timestamp::FromNanoseconds(7)}));
}

TEST_F(SecuredTransportTest, ChunksCrossWhole) {
  auto client = Client(node_keys_);
  Connect(*client);
  Collect(*client, Have<ConnectionUp>(1), {server_.get()});
  Buffer payload = Buffer::Allocate(1 << 18);
  for (int64_t i = 0; i < payload.elements(); ++i) payload.mutable_floats()[i] = static_cast<float>(i);
  client->Send({kOut, Chunk(payload.elements()), {payload}}, SteadyNow());
  const auto events = Collect(*server_, Have<MessageReceived>(1), {client.get()});
  const Payload& got = First<MessageReceived>(events).payload;
  ASSERT_EQ(got.size(), 1u);
  const Buffer whole = got[0].AsFloats();
  EXPECT_TRUE(std::equal(whole.floats().begin(), whole.floats().end(), payload.floats().begin()));
}

TEST_F(SecuredTransportTest, AnUnlistedKeyIsRefusedAndToldSo) {
  auto client = Client(MakeCurveKeys());
  EXPECT_THAT(WhyNot(*client), HasSubstr("does not list the key of this process"));
  std::vector<Event> events;
  server_->Collect(SteadyNow(), events);
  EXPECT_GE(server_->counters().Get().rejected_messages, 1u);
}

TEST_F(SecuredTransportTest, WhoHasNoKeyIsRefusedAndToldSo) {
  auto client = TransportTest::Bind();
  EXPECT_THAT(WhyNot(*client), HasSubstr("asks for a key"));
  const auto events = Collect(*server_, Have<MessageRejected>(1), {client.get()});
  EXPECT_THAT(std::string(First<MessageRejected>(events).reason.message()), HasSubstr("refused: it has no listed key"));
}

TEST_F(SecuredTransportTest, AServerWithoutKeysIsNotTalkedTo) {
  auto plain = TransportTest::Bind();
  auto client = Client(node_keys_);
  client->Connect({kOut, plain->bound_address(), Channel::kControl, ""}, SteadyNow());
  const auto events = Collect(*client, Have<ConnectFailed>(1), {plain.get()});
  EXPECT_THAT(First<ConnectFailed>(events).reason, HasSubstr("has no keys"));
}

TEST_F(SecuredTransportTest, AServerWithAnotherKeyIsNotTalkedTo) {
  auto client = Bind(node_keys_, {MakeCurveKeys().public_key});
  EXPECT_THAT(WhyNot(*client), HasSubstr("another one than"));
}

TEST_F(SecuredTransportTest, OfTwoKeysThatItMayHaveTheRightOneIsFound) {
  auto client = Bind(node_keys_, {MakeCurveKeys().public_key, server_keys_.public_key});
  Connect(*client);
  Collect(*client, Have<ConnectionUp>(1), {server_.get()});
}

TEST_F(SecuredTransportTest, ANodeIsMetOnceItsKeyIsTold) {
  auto client = Client(node_keys_);
  Connect(*client, "n9");
  const auto events = Collect(*client, Have<ConnectFailed>(1), {server_.get()});
  EXPECT_THAT(First<ConnectFailed>(events).reason, HasSubstr("has not sent the key of n9 yet"));
  client->Admit({{server_keys_.public_key, Role::kNode, "n9", NodeId(9)}}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server_.get()});
}

// Of the right form, and beyond what 32 bytes can be.
TEST_F(SecuredTransportTest, AKeyThatIsNoneHarmsNobody) {
  auto client = Bind(node_keys_, {std::string(40, '#'), server_keys_.public_key});
  Connect(*client);
  const auto events = Collect(*client, Have<ConnectionUp>(1), {server_.get()});
  EXPECT_THAT(First<ConnectFailed>(events).reason, HasSubstr("is not a valid key: ####"));
}

// Nothing of it reaches the core but that it was refused, and the connection ends.
TEST_F(SecuredTransportTest, AListedKeyMayNotSpeakAsAnother) {
  for (const Message& message : {Message(JoinAs("n2")), Message(HelloOf(2)), Message(StopJob{"now"})}) {
    auto client = Client(node_keys_);
    const auto heard = BeRefused(*client, message);
    EXPECT_THAT(First<ConnectFailed>(heard).reason,
                HasSubstr("the other end refused the connection: the key of node 'n1'"));
  }
}

TEST_F(SecuredTransportTest, AnObserverSeesAndGivesNoOrders) {
  auto client = Client(watcher_keys_);
  EXPECT_EQ(Count<MessageReceived>(Hear(*client, StatusRequest{})), 1u);
  auto other = Client(watcher_keys_);
  const auto heard = BeRefused(*other, Reconfigure{"nodes: []", "x.yaml"});
  const Message& reply = First<MessageReceived>(heard).message;
  ASSERT_TRUE(std::holds_alternative<OperatorReply>(reply));
  EXPECT_FALSE(std::get<OperatorReply>(reply).accepted);
  EXPECT_THAT(std::get<OperatorReply>(reply).text, HasSubstr("observer 'bob'"));
}

TEST_F(SecuredTransportTest, AKeyThatIsTakenFromTheListLosesItsConnection) {
  auto client = Client(node_keys_);
  const auto events = Hear(*client, JoinAs("n1"));
  const ConnectionId inbound = First<MessageReceived>(events).connection;
  server_->Admit({{watcher_keys_.public_key, Role::kObserver, "bob", NodeId()}}, SteadyNow());
  EXPECT_FALSE(server_->Exists(inbound));
  EXPECT_EQ(First<ConnectionDown>(Collect(*server_, Have<ConnectionDown>(1))).connection, inbound);
  const auto end = Collect(*client,
                           [](const std::vector<Event>& seen) {
                             for (const Event& event : seen) {
                               const auto* failed = std::get_if<ConnectFailed>(&event);
                               if (failed != nullptr && absl::StrContains(failed->reason, "does not list")) return true;
                             }
                             return false;
                           },
                           {server_.get()});
  EXPECT_GE(Count<ConnectionDown>(end), 1u);
}

TEST_F(SecuredTransportTest, APeerWhoseKeyIsTakenFromTheListIsLeft) {
  auto client = Client(node_keys_);
  client->Admit({{server_keys_.public_key, Role::kNode, "n9", NodeId(9)}}, SteadyNow());
  Connect(*client, "n9");
  Collect(*client, Have<ConnectionUp>(1), {server_.get()});
  client->Admit({{MakeCurveKeys().public_key, Role::kNode, "n9", NodeId(9)}}, SteadyNow());
  const auto events = Collect(*client, Have<ConnectFailed>(1), {server_.get()});
  EXPECT_EQ(Count<ConnectionDown>(events), 1u);
  EXPECT_THAT(First<ConnectFailed>(events).reason, HasSubstr("another one than"));
}

// Each half-open connection holds a descriptor: only so many may, and those who have something to say come in.
TEST_F(SecuredTransportTest, ACrowdOfStrangersKeepsNobodyOut) {
  constexpr size_t kMost = 20;
  SocketLimits limits;
  limits.most_strangers = kMost;
  auto server = Bind(server_keys_, {}, limits);
  server->Admit({{node_keys_.public_key, Role::kNode, "n1", NodeId(1)}}, SteadyNow());
  std::vector<FileDescriptor> crowd;
  for (size_t i = 0; i < 10 * kMost; ++i) crowd.push_back(ConnectByTcp(server->bound_address()));
  Collect(*server, [&](const std::vector<Event>&) {
    return static_cast<size_t>(std::count_if(crowd.begin(), crowd.end(), IsClosedByPeer)) >= crowd.size() - kMost;
  });
  auto client = Client(node_keys_);
  client->Connect({kOut, server->bound_address(), Channel::kControl, ""}, SteadyNow());
  Collect(*client, Have<ConnectionUp>(1), {server.get()});
  client->Send({kOut, JoinAs("n1"), {}}, SteadyNow());
  Collect(*server, Have<MessageReceived>(1), {client.get()});
}

}  // namespace
}  // namespace banyan
