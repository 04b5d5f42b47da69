// Chunks between processes of one machine go by a unix socket, and by TCP where there is none.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "access/key_file.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"
#include "posix/unix_socket.h"
#include "runtime/testing/testing_transport.h"
#include "runtime/transport/tcp_endpoint.h"

namespace banyan {
namespace {

class UnixWayTest : public TransportTest {
 protected:
  static SocketLimits Limits() {
    SocketLimits limits;
    limits.uses_unix_sockets = true;
    limits.silence_told = absl::Milliseconds(200);
    return limits;
  }
  std::unique_ptr<Transport> BindWith(const CurveKeys& keys, std::vector<std::string> scheduler_keys) {
    auto transport = Transport::Bind("tcp://127.0.0.1:0", Limits(), SecurityOptions{keys, std::move(scheduler_keys)});
    EXPECT_TRUE(transport.ok()) << transport.status();
    return *std::move(transport);
  }

  // Opens a connection for chunks, and has a message go each way.
  void Greet(Transport& server, Transport& client, const std::string& address) {
    client.Connect({kOut, address, Channel::kData}, SteadyNow());
    const std::vector<Event> seen = Collect(client, Have<ConnectionUp>(1), {&server});
    EXPECT_EQ(Count<ConnectFailed>(seen), 0u);
    client.Send(Beat(kOut, 1), SteadyNow());
    const ConnectionId in = First<MessageReceived>(Collect(server, Have<MessageReceived>(1), {&client})).connection;
    server.Send(Beat(in, 2), SteadyNow());
    Collect(client, Have<MessageReceived>(1), {&server});
  }

  // A listener on the name that belongs to `address`, which says nothing to whoever comes.
  static FileDescriptor TakeName(const std::string& address) {
    sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
    const std::string text = NumericEndpoint(address)->UnixAddress()->substr(std::string("ipc://@").size());
    text.copy(name.sun_path + 1, sizeof(name.sun_path) - 2);
    FileDescriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&name), size), 0);
    EXPECT_EQ(listen(listener.get(), 8), 0);
    return listener;
  }
};

TEST_F(UnixWayTest, ProcessesOfOneMachineNeedNoTcp) {
  auto server = Bind("tcp://127.0.0.1:0", Limits());
  auto client = Bind("tcp://127.0.0.1:0", Limits());
  Greet(*server, *client, server->bound_address());
  EXPECT_TRUE(client->UsesUnixSocket(kOut));
  server.reset();
  EXPECT_EQ(Count<ConnectionDown>(Collect(*client, Have<ConnectionDown>(1))), 1u) << "its end is seen";
}

TEST_F(UnixWayTest, WhoListensEverywhereHasOneToo) {
  auto server = Bind("tcp://*:0", Limits());
  auto client = Bind("tcp://127.0.0.1:0", Limits());
  const std::string& bound = server->bound_address();
  Greet(*server, *client, absl::StrCat("tcp://127.0.0.1", bound.substr(bound.rfind(':'))));
  EXPECT_TRUE(client->UsesUnixSocket(kOut));
}

TEST_F(UnixWayTest, OnlyChunksGoThere) {
  auto server = Bind("tcp://127.0.0.1:0", Limits());
  auto client = Bind("tcp://127.0.0.1:0", Limits());
  InboundOf(*server, *client);
  EXPECT_FALSE(client->UsesUnixSocket(kOut));
}

TEST_F(UnixWayTest, WithoutOneTheyGoByTcpAtOnce) {
  auto server = Bind("tcp://127.0.0.1:0");
  auto client = Bind("tcp://127.0.0.1:0", Limits());
  Greet(*server, *client, server->bound_address());
  EXPECT_FALSE(client->UsesUnixSocket(kOut));
}

TEST_F(UnixWayTest, AnotherProgramWithTheNameDelaysThemOnly) {
  auto server = Bind("tcp://127.0.0.1:0");
  const FileDescriptor other = TakeName(server->bound_address());
  auto client = Bind("tcp://127.0.0.1:0", Limits());
  Greet(*server, *client, server->bound_address());
  EXPECT_FALSE(client->UsesUnixSocket(kOut));
}

TEST_F(UnixWayTest, ATakenNameIsDoneWithout) {
  auto first = Bind("tcp://127.0.0.1:0");
  const std::string address = first->bound_address();
  first.reset();
  const FileDescriptor other = TakeName(address);
  auto server = Bind(address, Limits());
  EXPECT_EQ(server->bound_address(), address);
}

TEST_F(UnixWayTest, SealedChunksGoThereToo) {
  const CurveKeys server_keys = MakeCurveKeys();
  const CurveKeys client_keys = MakeCurveKeys();
  auto server = BindWith(server_keys, {});
  auto client = BindWith(client_keys, {server_keys.public_key});
  server->Admit({{client_keys.public_key, Role::kNode, "n1", NodeId(1)}}, SteadyNow());
  Greet(*server, *client, server->bound_address());
  std::vector<Event> ignored;
  while (!client->UsesDataPort(kOut)) {
    for (Transport* each : {server.get(), client.get()}) {
      each->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(1));
      each->Collect(SteadyNow(), ignored);
    }
  }
  EXPECT_TRUE(client->UsesUnixSocket(kOut));
  client->Send(Beat(kOut, 3), SteadyNow());
  Collect(*server, Have<MessageReceived>(1), {client.get()});
}

TEST_F(UnixWayTest, SealedChunksGoByTcpWhereTheNameIsAnothers) {
  const CurveKeys server_keys = MakeCurveKeys();
  const CurveKeys client_keys = MakeCurveKeys();
  auto with_tcp = Transport::Bind("tcp://127.0.0.1:0", {}, SecurityOptions{server_keys, {}});
  ASSERT_TRUE(with_tcp.ok()) << with_tcp.status();
  Transport& server = **with_tcp;
  auto client = BindWith(client_keys, {server_keys.public_key});
  server.Admit({{client_keys.public_key, Role::kNode, "n1", NodeId(1)}}, SteadyNow());
  Greet(server, *client, server.bound_address());
  std::vector<Event> events;
  while (!client->UsesDataPort(kOut)) {
    for (Transport* each : {&server, client.get()}) {
      each->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(1));
      each->Collect(SteadyNow(), events);
    }
  }
  EXPECT_FALSE(client->UsesUnixSocket(kOut));
  EXPECT_EQ(Count<MessageRejected>(events), 0u) << "nobody has to be told";
}

TEST_F(UnixWayTest, AnotherUserIsNotHeardThere) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to become another user";
  auto server = Bind("tcp://127.0.0.1:0", Limits());
  const std::string text = NumericEndpoint(server->bound_address())->UnixAddress()->substr(7);
  sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = {}};
  text.copy(name.sun_path + 1, sizeof(name.sun_path) - 2);
  const FileDescriptor visitor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (seteuid(65534) != 0) GTEST_SKIP() << "there is no other user here";
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const int connected = connect(visitor.get(), reinterpret_cast<const sockaddr*>(&name), size);
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(connected, 0);
  std::vector<Event> ignored;
  char byte = 0;
  ssize_t got = -1;
  while (got != 0) {  // what ZeroMQ says first, and then the end
    server->Wait(wakeup_.fd(), SteadyNow() + absl::Milliseconds(1));
    server->Collect(SteadyNow(), ignored);
    got = recv(visitor.get(), &byte, 1, MSG_DONTWAIT);
  }
  EXPECT_EQ(got, 0);
}

}  // namespace
}  // namespace banyan
