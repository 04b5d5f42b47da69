#include "wan/control_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "posix/unix_socket.h"

namespace banyan {
namespace {

// Serves until nothing is to do.
void ServeAll(ControlServer& server) {
  pollfd ready = {server.fd(), POLLIN, 0};
  while (poll(&ready, 1, 0) > 0) server.Serve();
}

class ControlServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
    path_ = absl::StrCat(mkdtemp(directory.data()), "/control");
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  std::string Ask(ControlServer& server, const std::string& request, FileDescriptor* file = nullptr) {
    absl::StatusOr<FileDescriptor> client = ConnectToUnix(path_);
    EXPECT_TRUE(client.ok()) << client.status();
    EXPECT_EQ(SendPacket(client->get(), request, -1, true), PacketResult::kDone);
    std::string answer;
    Packet packet;
    for (;;) {
      ServeAll(server);
      if (ReceivePacket(client->get(), kControlPacketBytes, true, packet) != PacketResult::kDone) return answer;
      answer += packet.bytes;
      if (file != nullptr && packet.file.valid()) *file = std::move(packet.file);
    }
  }

  std::string path_;
};

TEST_F(ControlServerTest, AnswersRequestsOfAnyLength) {
  auto server = ControlServer::Listen(path_, [](absl::string_view request) -> absl::StatusOr<ControlReply> {
    if (request == "long") return ControlReply{std::string(2000000, 'x')};
    if (request == "wrong") return absl::InvalidArgumentError("expected something else");
    return ControlReply{absl::StrCat("heard ", request)};
  });
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_EQ(Ask(**server, "this"), "ok heard this");
  EXPECT_EQ(Ask(**server, "wrong"), "error expected something else");
  EXPECT_EQ(Ask(**server, "long"), "ok " + std::string(2000000, 'x'));
  EXPECT_FALSE(ControlServer::Listen(path_, {}).ok());
}

TEST_F(ControlServerTest, HandsOverADescriptor) {
  const FileDescriptor given(dup(0));
  auto server = ControlServer::Listen(path_, [&](absl::string_view) -> absl::StatusOr<ControlReply> {
    return ControlReply{"", given.get()};
  });
  FileDescriptor taken;
  EXPECT_EQ(Ask(**server, "file", &taken), "ok ");
  struct stat one, other;
  ASSERT_EQ(fstat(given.get(), &one), 0);
  ASSERT_EQ(fstat(taken.get(), &other), 0);
  EXPECT_EQ(one.st_ino, other.st_ino);
}

TEST_F(ControlServerTest, AClientThatGoesHarmsNobody) {
  auto server = ControlServer::Listen(
      path_, [](absl::string_view) -> absl::StatusOr<ControlReply> { return ControlReply{std::string(2000000, 'x')}; });
  for (const bool asks : {false, true}) {
    const absl::StatusOr<FileDescriptor> client = ConnectToUnix(path_);
    if (asks) SendPacket(client->get(), "long", -1, true);
    ServeAll(**server);
  }
  EXPECT_EQ(Ask(**server, "long").size(), 2000003u);
}

}  // namespace
}  // namespace banyan
