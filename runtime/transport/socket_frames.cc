#include "runtime/transport/socket_frames.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

int Milliseconds(absl::Duration duration) { return static_cast<int>(absl::ToInt64Milliseconds(duration)); }

// By the kernel, which finds ends that are gone, and by ZeroMQ, whose bytes pass what ends TCP on the way. ZeroMQ must
// not judge by its own: behind a large frame on a slow link they take long.
void KeepAlive(const SocketLimits& limits, zmq::socket_t& socket) {
  constexpr int kProbes = 3;
  constexpr absl::Duration kNeverJudged = absl::Hours(24);
  const auto idle_s = static_cast<int>(absl::ToInt64Seconds(limits.keep_alive));
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, std::max(1, idle_s));
  socket.set(zmq::sockopt::tcp_keepalive_intvl, std::max(1, idle_s / kProbes));
  socket.set(zmq::sockopt::tcp_keepalive_cnt, kProbes);
  socket.set(zmq::sockopt::tcp_maxrt, Milliseconds(limits.unacknowledged));
  socket.set(zmq::sockopt::heartbeat_ivl, Milliseconds(limits.keep_alive));
  socket.set(zmq::sockopt::heartbeat_timeout, Milliseconds(kNeverJudged));
}

void DropReference(void*, void* reference) { delete static_cast<Buffer*>(reference); }

// Without blocking; tries again after a signal.
int SendOne(zmq::socket_t& socket, zmq::message_t& frame, int flags) {
  int sent = -1;
  do {
    sent = zmq_msg_send(frame.handle(), socket.handle(), flags | ZMQ_DONTWAIT);
  } while (sent < 0 && zmq_errno() == EINTR);
  return sent;
}

bool ReceiveOne(zmq::socket_t& socket, zmq::message_t& frame) {
  int got = -1;
  do {
    got = zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT);
  } while (got < 0 && zmq_errno() == EINTR);
  return got >= 0;
}

}  // namespace

void ApplyLimits(const SocketLimits& limits, zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, Milliseconds(limits.linger));
  socket.set(zmq::sockopt::sndhwm, limits.send_high_water);
  socket.set(zmq::sockopt::rcvhwm, limits.receive_high_water);
  socket.set(zmq::sockopt::maxmsgsize, limits.max_frame_bytes);
  socket.set(zmq::sockopt::handshake_ivl, Milliseconds(limits.connect_timeout));
  socket.set(zmq::sockopt::connect_timeout, Milliseconds(limits.connect_timeout));
  KeepAlive(limits, socket);
  // With a domain, and nobody who answers for it, ZeroMQ refuses peers of protocol versions before 3. That is needed:
  // libzmq 4.3.4 ends the process when such a peer's first message meets a socket that is being closed.
  socket.set(zmq::sockopt::zap_domain, "banyan");
}

SendResult SendFrames(zmq::socket_t& socket, std::vector<zmq::message_t>& frames) {
  BANYAN_CHECK(!frames.empty());
  for (size_t i = 0; i < frames.size(); ++i) {
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    if (SendOne(socket, frames[i], more) < 0) return zmq_errno() == EAGAIN ? SendResult::kFull : SendResult::kNoRoute;
  }
  return SendResult::kSent;
}

bool ReceiveFrames(zmq::socket_t& socket, size_t max_frames, ReceivedFrames& received) {
  received = ReceivedFrames();
  zmq::message_t frame;
  bool more = true;
  while (more) {
    // Later frames of a message are there when the first one is.
    if (!ReceiveOne(socket, frame)) return false;
    more = frame.more();
    if (received.frames.size() < max_frames) {
      received.frames.push_back(std::move(frame));
    } else {
      received.too_many = true;
    }
    frame.rebuild();
  }
  return true;
}

zmq::message_t FrameOf(const Buffer& buffer) {
  if (buffer.empty()) return zmq::message_t();
  auto reference = std::make_unique<Buffer>(buffer);
  void* data = reference->mutable_data();
  return zmq::message_t(data, buffer.size_bytes(), DropReference, reference.release());
}

Buffer BufferOf(zmq::message_t frame) {
  if (frame.size() == 0) return Buffer();
  const auto* bytes = static_cast<const uint8_t*>(frame.data());
  if (reinterpret_cast<uintptr_t>(bytes) % alignof(float) != 0) return Buffer::CopyOfBytes({bytes, frame.size()});
  // Shared because the release callback must be copyable.
  auto owner = std::make_shared<zmq::message_t>(std::move(frame));
  return Buffer::Wrap(owner->data(), owner->size(), DataType::kByte, MemoryKind::kHost, [owner] {});
}

absl::string_view BytesOf(const zmq::message_t& frame) {
  return {static_cast<const char*>(frame.data()), frame.size()};
}

size_t SizeOf(const std::vector<zmq::message_t>& frames) {
  size_t size_bytes = 0;
  for (const zmq::message_t& frame : frames) size_bytes += frame.size();
  return size_bytes;
}

}  // namespace banyan
