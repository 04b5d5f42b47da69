#include "tests/hostile_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

#include "proto/session_codec.h"
#include "runtime/testing/zmtp_bytes.h"

namespace banyan {
namespace {

constexpr int kMessagesPerConnection = 100;
constexpr int kPacketsPerConnection = 50;
constexpr size_t kLongestNoise = 2000;
// A daemon that does not close a broken connection within this keeps it.
constexpr timeval kPatience = {.tv_sec = 10, .tv_usec = 0};

FileDescriptor Connect(int family, int type, const sockaddr* address, socklen_t size) {
  FileDescriptor socket(::socket(family, type | SOCK_CLOEXEC, 0));
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (connect(socket.get(), address, size) != 0) socket.Close();
  return socket;
}

FileDescriptor ConnectToPort(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return Connect(AF_INET, SOCK_STREAM, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

FileDescriptor ConnectToPath(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return Connect(AF_UNIX, SOCK_SEQPACKET, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

// Whatever the daemon answers, until it closes the connection: what was sent has been read then.
void HearOut(int socket) {
  char bytes[1 << 14];
  shutdown(socket, SHUT_WR);
  while (recv(socket, bytes, sizeof(bytes), 0) > 0) {
  }
}

void SendAll(int socket, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

// ZeroMQ drops a peer whose messages come before its own handshake is over.
void Converse(int socket, absl::string_view bytes) {
  const size_t handshake = ZmtpHandshakeSize(bytes);
  SendAll(socket, bytes.substr(0, handshake));
  std::string answer;
  char some[256];
  while (ZmtpHandshakeSize(answer) == 0) {
    const ssize_t got = handshake == 0 ? 0 : recv(socket, some, sizeof(some), 0);
    if (got <= 0) break;
    answer.append(some, static_cast<size_t>(got));
  }
  SendAll(socket, bytes.substr(handshake));
  HearOut(socket);
}

// With `files` descriptors beside it, which the daemon has no use for.
bool SendPacket(int socket, const std::string& bytes, size_t files) {
  iovec data = {const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 3)] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (files > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * files);
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * files);
    for (size_t i = 0; i < files; ++i) std::memcpy(CMSG_DATA(part) + i * sizeof(int), &socket, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

}  // namespace

void HostilePeer::FloodRouter(int port, int64_t messages) {
  const int64_t enough = sent_ + messages;
  while (sent_ < enough) {
    const Volley volley = NextVolley();
    const FileDescriptor socket = ConnectToPort(port);
    if (!socket.valid()) return;
    Converse(socket.get(), volley.bytes);
    sent_ += volley.messages;
  }
}

void HostilePeer::Replay(int port, absl::string_view bytes) {
  const FileDescriptor socket = ConnectToPort(port);
  Converse(socket.get(), bytes);
}

void HostilePeer::OpenInTurn(int port, int64_t count) {
  const std::string greeting = ZmtpGreeting("CURVE");
  for (int64_t i = 0; i < count; ++i) {
    silent_.push_back(ConnectToPort(port));
    SendAll(silent_.back().get(), greeting.substr(0, static_cast<size_t>(i) % greeting.size()));
    if (silent_.size() > kBeside) silent_.pop_front();
    ++sent_;
  }
}

void HostilePeer::SayInTurn(int port, const std::string& handshake, const std::string& bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const FileDescriptor socket = ConnectToPort(port);
    SendAll(socket.get(), handshake);
    // The daemon is done with that before more comes.
    char some[256];
    if (recv(socket.get(), some, sizeof(some), 0) > 0) SendAll(socket.get(), bytes);
    ++sent_;
  }
}

void HostilePeer::OpenSilently(int port) { silent_.push_back(ConnectToPort(port)); }

void HostilePeer::OpenSilently(const std::string& path) { silent_.push_back(ConnectToPath(path)); }

HostilePeer::Volley HostilePeer::NextVolley() {
  Random& random = messages_.random();
  const uint64_t kind = random.Below(16);
  if (kind < 8) return BrokenVolley(kind);
  Volley volley{ZmtpHandshake(), 0};
  for (int i = 0; i < kMessagesPerConnection; ++i) {
    switch (kind % 4) {
      case 0:
        Append({messages_.Noise(kLongestNoise)}, volley);
        break;
      case 1:
        Append(messages_.MutatedFrames(), volley);
        break;
      default:
        Append(messages_.SenselessFrames(), volley);
    }
  }
  return volley;
}

// What breaks ZeroMQ's own rules, or stretches them.
HostilePeer::Volley HostilePeer::BrokenVolley(uint64_t kind) {
  Random& random = messages_.random();
  Volley volley{"", 1};
  switch (kind) {
    case 0:
      volley.bytes = messages_.Noise(kLongestNoise);
      break;
    case 1:
      volley.bytes = ZmtpHandshake().substr(0, random.Below(ZmtpHandshake().size()));
      break;
    case 2:
      volley.bytes = ZmtpGreeting() + messages_.Noise(kLongestNoise);
      break;
    case 3:
      volley.bytes = ZmtpHandshake() + ZmtpFrameHeader((uint64_t{1} << 26) + (random.Next() >> random.Below(38))) +
                     messages_.Noise(kLongestNoise);
      break;
    case 4:
      volley.bytes =
          ZmtpHandshake() + ZmtpFrameHeader(kLongestNoise + random.Below(1 << 20)) + messages_.Noise(kLongestNoise - 1);
      break;
    case 5:
      volley.bytes = ZmtpHandshake() + ZmtpCommand(messages_.Noise(20), messages_.Noise(kLongestNoise));
      break;
    case 6: {
      std::vector<std::string> frames(random.Below(1000) + 1, "x");
      volley = {ZmtpHandshake(), 0};
      Append(frames, volley);
      break;
    }
    default:
      volley = {ZmtpGreeting() + ZmtpReady(messages_.Noise(100)), 0};
      for (int i = 0; i < kMessagesPerConnection; ++i) Append(messages_.SenselessFrames(), volley);
  }
  return volley;
}

void HostilePeer::Append(const std::vector<std::string>& message, Volley& volley) {
  for (size_t i = 0; i < message.size(); ++i) volley.bytes += ZmtpFrame(message[i], i + 1 < message.size());
  ++volley.messages;
}

void HostilePeer::FloodWorkerSocket(const std::string& path, int64_t packets) {
  const int64_t enough = sent_ + packets;
  while (sent_ < enough) WorkerVolley(path, std::min<int64_t>(kPacketsPerConnection, enough - sent_));
}

void HostilePeer::WorkerVolley(const std::string& path, int64_t packets) {
  const FileDescriptor socket = ConnectToPath(path);
  char answer[1 << 14];
  for (int64_t i = 0; i < packets; ++i) {
    const bool with_files = messages_.random().Chance(0.05);
    ++sent_;
    if (!SendPacket(socket.get(), NextPacket(), with_files ? messages_.random().Below(3) + 1 : 0)) break;
    while (recv(socket.get(), answer, sizeof(answer), MSG_DONTWAIT) > 0) {
    }
  }
  HearOut(socket.get());
}

std::string HostilePeer::NextPacket() {
  switch (messages_.random().Below(4)) {
    case 0:
      return messages_.Noise(kLongestNoise);
    case 1:
      return messages_.MutatedWorkerMessage();
    case 2:
      return messages_.random().Chance(0.1) ? messages_.Noise(4 * kMaxSessionMessageBytes)
                                            : messages_.SenselessWorkerMessage();
    default:
      return messages_.SenselessWorkerMessage();
  }
}

}  // namespace banyan
