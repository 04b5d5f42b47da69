#include "tests/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr absl::Duration kPatience = absl::Seconds(60);

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// A listener and what a client of the proxy in front of it needs; all sockets block.
class TcpProxyTest : public testing::Test {
 protected:
  TcpProxyTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_.get(), raw, size), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    EXPECT_EQ(getsockname(listener_.get(), raw, &size), 0);
    port_ = ntohs(address.sin_port);
  }

  static FileDescriptor Connect(int port) {
    FileDescriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(port);
    EXPECT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return client;
  }
  FileDescriptor Accept() const { return FileDescriptor(accept(listener_.get(), nullptr, nullptr)); }

  static void Say(const FileDescriptor& to, const std::string& text) {
    EXPECT_EQ(send(to.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // The next `size` bytes; fewer when the connection ends before.
  static std::string Hear(const FileDescriptor& from, size_t size) {
    std::string text(size, '\0');
    const ssize_t got = recv(from.get(), text.data(), size, MSG_WAITALL);
    return text.substr(0, got < 0 ? 0 : static_cast<size_t>(got));
  }

  FileDescriptor listener_;
  int port_ = 0;
};

TEST_F(TcpProxyTest, ForwardsBothWaysAndRecords) {
  TcpProxy proxy(port_);
  const FileDescriptor client = Connect(proxy.port());
  Say(client, "question");
  const FileDescriptor server = Accept();
  EXPECT_EQ(Hear(server, 8), "question");
  Say(server, "answer");
  EXPECT_EQ(Hear(client, 6), "answer");
  const std::string large(1 << 22, 'x');
  std::thread sender([&] { Say(server, large); });
  EXPECT_EQ(Hear(client, large.size()), large);
  sender.join();
  EXPECT_THAT(proxy.recorded(), ElementsAre("question"));
}

TEST_F(TcpProxyTest, PassesTheEndOn) {
  TcpProxy proxy(port_);
  FileDescriptor client = Connect(proxy.port());
  const FileDescriptor server = Accept();
  Say(client, "bye");
  client.Close();
  EXPECT_EQ(Hear(server, 10), "bye");
}

TEST_F(TcpProxyTest, SilenceHoldsEverythingBack) {
  TcpProxy proxy(port_);
  proxy.FallSilent();
  const FileDescriptor client = Connect(proxy.port());
  Say(client, "a");
  // Nobody tells when nothing comes; what is held back must at least not be lost.
  EXPECT_EQ(proxy.passed_bytes(), 0);
  proxy.SpeakAgain();
  EXPECT_EQ(Hear(Accept(), 1), "a");
}

TEST_F(TcpProxyTest, SomeConnectionsFallSilentByWhatTheyBeganWith) {
  TcpProxy proxy(port_);
  const FileDescriptor one = Connect(proxy.port());
  const FileDescriptor one_server = Accept();
  Say(one, "one");
  EXPECT_EQ(Hear(one_server, 3), "one");
  proxy.FallSilent("one");
  Say(one, "+");
  const FileDescriptor other = Connect(proxy.port());
  const FileDescriptor other_server = Accept();
  Say(other, "other");
  EXPECT_EQ(Hear(other_server, 5), "other");
  EXPECT_EQ(proxy.passed_bytes(), 8);
  proxy.SpeakAgain();
  EXPECT_EQ(Hear(one_server, 1), "+");
}

TEST_F(TcpProxyTest, SwallowsWhatPresentConnectionsCarry) {
  TcpProxy proxy(port_);
  const FileDescriptor one = Connect(proxy.port());
  const FileDescriptor one_server = Accept();
  Say(one, "one");
  EXPECT_EQ(Hear(one_server, 3), "one");
  proxy.SwallowOfPresent(/*one_way=*/true);
  const FileDescriptor other = Connect(proxy.port());
  const FileDescriptor other_server = Accept();
  Say(one, "lost");
  Say(other, "other");
  EXPECT_EQ(Hear(other_server, 5), "other");
  Say(one_server, "back");
  EXPECT_EQ(Hear(one, 4), "back");
  EXPECT_EQ(proxy.swallowing(), 1);
}

TEST_F(TcpProxyTest, SwallowsWhatComesAfterSoManyBytes) {
  TcpProxy proxy(port_);
  proxy.SwallowAfter(4, /*one_way=*/false);
  const FileDescriptor client = Connect(proxy.port());
  const FileDescriptor server = Accept();
  Say(client, "four");
  EXPECT_EQ(Hear(server, 4), "four");
  Say(client, "fives");
  // A second connection has its own count.
  const FileDescriptor other = Connect(proxy.port());
  Say(other, "more");
  EXPECT_EQ(Hear(Accept(), 4), "more");
  proxy.SwallowNoMore();
}

TEST_F(TcpProxyTest, DropsConnectionsWhenToldAndAfterSoManyBytes) {
  TcpProxy proxy(port_);
  const FileDescriptor client = Connect(proxy.port());
  const FileDescriptor server = Accept();
  Say(client, "a");
  EXPECT_EQ(Hear(server, 1), "a");
  proxy.Drop();
  EXPECT_TRUE(proxy.WaitUntilDropped(1, kPatience));
  EXPECT_EQ(Hear(server, 1), "");
  EXPECT_EQ(Hear(client, 1), "");

  proxy.DropAfter(3);
  const FileDescriptor next = Connect(proxy.port());
  const FileDescriptor next_server = Accept();
  Say(next, "bc");
  EXPECT_EQ(Hear(next_server, 2), "bc");
  EXPECT_EQ(proxy.dropped(), 1);
  Say(next, "d");
  EXPECT_TRUE(proxy.WaitUntilDropped(2, kPatience));
  EXPECT_EQ(Hear(next, 1), "");
}

TEST_F(TcpProxyTest, ClosesWhatNobodyListensTo) {
  TcpProxy proxy(port_);
  listener_.Close();
  const FileDescriptor client = Connect(proxy.port());
  EXPECT_EQ(Hear(client, 1), "");
}

}  // namespace
}  // namespace banyan
