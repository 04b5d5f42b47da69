// What the network and other programs of this machine may throw at a daemon's sockets: none of it may end the daemon or
// its job.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"
#include "posix/unix_socket.h"
#include "proto/session_codec.h"
#include "proto/wire.h"
#include "runtime/node_host.h"
#include "runtime/protocol_host.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_node.h"
#include "runtime/testing/testing_protocol.h"
#include "zmq.hpp"

namespace banyan {
namespace {

constexpr int kFrames = 100000;
constexpr int64_t kMaxFrameBytes = 1 << 16;

std::string RandomBytes(Random& random, size_t most) {
  std::string bytes(random.Below(most + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

// Random bytes, or `whole` cut off or with some bytes changed.
std::string Malformed(Random& random, const std::string& whole) {
  switch (random.Below(3)) {
    case 0:
      return RandomBytes(random, 200);
    case 1:
      return whole.substr(0, random.Below(whole.size()));
    default:
      break;
  }
  std::string changed = whole;
  for (int i = 0; i < 3; ++i) changed[random.Below(changed.size())] = static_cast<char>(random.Next());
  return changed;
}

// A daemon that answers each Heartbeat with the same.
class EchoDaemon {
 public:
  EchoDaemon() {
    auto host = ProtocolHost::Create({.max_frame_bytes = kMaxFrameBytes});
    EXPECT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
    auto core = std::make_unique<TestingProtocol>();
    core->on_message = [](MessageReceived& received, Actions& actions) {
      if (!std::holds_alternative<Heartbeat>(received.message)) return;
      TestingProtocol::Add(actions, Send{received.connection, received.message, {}});
    };
    thread_ = std::thread([this, core = std::move(core)]() mutable { EXPECT_TRUE(host_->Run(std::move(core)).ok()); });
  }
  ~EchoDaemon() {
    host_->RequestStop();
    thread_.join();
  }

  ProtocolHost& host() { return *host_; }

 private:
  std::unique_ptr<ProtocolHost> host_;
  std::thread thread_;
};

// A well-behaved peer.
class Peer {
 public:
  explicit Peer(const std::string& address) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndhwm, 0);
    socket_.connect(address);
  }

  void Send(const std::string& header, bool more = false) {
    socket_.send(zmq::buffer(header), more ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  // The daemon's answer to a Heartbeat; false after a minute.
  bool Echo(int64_t at) {
    const Message beat = Heartbeat{Timestamp::FromNanoseconds(at)};
    Send(EncodeMessage(beat));
    socket_.set(zmq::sockopt::rcvtimeo, 60000);
    zmq::message_t answer;
    while (socket_.recv(answer)) {
      const std::string header(static_cast<const char*>(answer.data()), answer.size());
      const auto message = DecodeMessage(header, {});
      if (message.ok() && *message == beat) return true;
    }
    return false;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

TEST(FloodTest, MalformedFramesAtThePeersSocket) {
  EchoDaemon daemon;
  Peer good(daemon.host().bound_address());
  ASSERT_TRUE(good.Echo(1));
  Peer bad(daemon.host().bound_address());
  Random random(7);
  const std::string whole = EncodeMessage(Join{1, "job", "n1", "tcp://127.0.0.1:1", Incarnation(5)});
  for (int i = 0; i < kFrames; ++i) {
    const uint64_t extra = random.Below(100) == 0 ? random.Below(300) : 0;
    bad.Send(Malformed(random, whole), extra > 0);
    for (uint64_t frame = 1; frame <= extra; ++frame) bad.Send("x", frame < extra);
    if (i % (kFrames / 5) == 0) {
      EXPECT_TRUE(good.Echo(1000 + i));
    }
  }
  // The daemon has read all once it answers the last message.
  EXPECT_TRUE(bad.Echo(2));
  EXPECT_TRUE(good.Echo(3));
  EXPECT_GT(daemon.host().traffic().rejected_messages, static_cast<uint64_t>(kFrames / 2));
}

int ConnectTcp(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// A ZMTP 3.0 greeting and a DEALER's READY (rfc.zeromq.org/spec/23), after which frames can follow.
std::string Handshake() {
  std::string greeting("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\0NULL", 16);
  greeting.resize(64, '\0');
  std::string ready("\x05READY\x0BSocket-Type");
  ready += std::string(3, '\0') + "\x06" + "DEALER";
  return greeting + "\x04" + static_cast<char>(ready.size()) + ready;
}

TEST(FloodTest, BytesThatAreNoZeroMqAtThePeersSocket) {
  EchoDaemon daemon;
  Peer good(daemon.host().bound_address());
  Random random(8);
  const std::string handshake = Handshake();
  for (int i = 0; i < 300; ++i) {
    const int fd = ConnectTcp(daemon.host().bound_port());
    std::string bytes = RandomBytes(random, 2000);
    if (i % 3 == 1) bytes = handshake + bytes;
    if (i % 3 == 2) bytes = handshake.substr(0, random.Below(handshake.size()));
    // The daemon may close before it has read all.
    (void)send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    close(fd);
  }
  EXPECT_TRUE(good.Echo(1));
}

TEST(FloodTest, OversizedFramesEndOnlyTheirConnection) {
  EchoDaemon daemon;
  Peer good(daemon.host().bound_address());
  EXPECT_TRUE(good.Echo(1));
  for (int i = 0; i < 10; ++i) {
    Peer bad(daemon.host().bound_address());
    bad.Send(std::string(kMaxFrameBytes + 1, 'x'));
    // A frame that claims a size which nobody has.
    const int fd = ConnectTcp(daemon.host().bound_port());
    const std::string claim = Handshake() + std::string("\x02\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9) + "beginning";
    EXPECT_EQ(send(fd, claim.data(), claim.size(), MSG_NOSIGNAL), static_cast<ssize_t>(claim.size()));
    char byte = 0;
    while (recv(fd, &byte, 1, 0) > 0) continue;  // until the daemon closes
    close(fd);
  }
  EXPECT_TRUE(good.Echo(2));
}

TEST(FloodTest, MalformedPacketsAtTheWorkersSocket) {
  std::string directory = "/tmp/banyan_XXXXXX";  // the test's own directory may be too long for a socket
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/n1";
  auto host = NodeHost::Start({.name = "n1", .worker_socket = "unix:" + path},
                              [](const ProtocolHost&) { return std::make_unique<TestingNode>(TestingNodeOptions()); });
  ASSERT_TRUE(host.ok()) << host.status();
  auto session = Session::Open({.node = "unix:" + path});
  ASSERT_TRUE(session.ok()) << session.status();
  const std::vector<float> values = {1, 2, 3};
  ASSERT_TRUE((*session)->Init("w", values).Wait().ok());
  Random random(9);
  const std::string whole = EncodeWorkerMessage(OpenTensor{CallId(1), "w", 3});
  FileDescriptor socket;
  int sent = 0;
  while (sent < kFrames) {
    if (!socket.valid()) socket = ConnectToUnix(path).value();
    const std::string bytes =
        random.Below(100) == 0 ? std::string(kMaxSessionMessageBytes * 2, 'x') : Malformed(random, whole);
    if (SendPacket(socket.get(), bytes.empty() ? "x" : bytes, -1, true) == PacketResult::kDone) {
      ++sent;
    } else {
      socket.Close();  // the node has cut this one off
    }
    if (sent % (kFrames / 5) == 0) {
      std::vector<float> result(3);
      EXPECT_TRUE((*session)->PushPull("w", values, absl::MakeSpan(result)).Wait(absl::Seconds(120)).ok());
      EXPECT_EQ(result, values);
    }
  }
  std::vector<float> result(3);
  EXPECT_TRUE((*session)->PushPull("w", values, absl::MakeSpan(result)).Wait(absl::Seconds(120)).ok());
  EXPECT_GT((*host)->host().traffic().rejected_worker_messages, static_cast<uint64_t>(kFrames / 100));
  session->reset();
  EXPECT_TRUE((*host)->Stop().ok());
}

}  // namespace
}  // namespace banyan
