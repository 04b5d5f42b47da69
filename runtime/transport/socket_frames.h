// Messages of several frames in and out of a ZeroMQ socket, never blocking, and payload frames that share their memory
// with Buffers in both directions. Free functions for the thread that owns the socket.
#ifndef BANYAN_RUNTIME_TRANSPORT_SOCKET_FRAMES_H_
#define BANYAN_RUNTIME_TRANSPORT_SOCKET_FRAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/buffer.h"
#include "runtime/transport/socket_limits.h"
#include "zmq.hpp"

namespace banyan {

// What both ends of every connection set.
void ApplyLimits(const SocketLimits& limits, zmq::socket_t& socket);

enum class SendResult {
  kSent,
  kFull,     // the high-water mark is reached; nothing was sent
  kNoRoute,  // the connection is gone; nothing was sent
};

// Sends all frames as one message; `frames` is left empty ones when it succeeds.
SendResult SendFrames(zmq::socket_t& socket, std::vector<zmq::message_t>& frames);

struct ReceivedFrames {
  std::vector<zmq::message_t> frames;
  bool too_many = false;  // more than allowed: the rest was dropped
};

// False when no message waits.
bool ReceiveFrames(zmq::socket_t& socket, size_t max_frames, ReceivedFrames& received);

// A frame that refers to the buffer's memory. A socket's I/O thread drops that reference when the bytes have gone out.
zmq::message_t FrameOf(const Buffer& buffer);
// The frame's bytes without a copy, unless they are not aligned for float32.
Buffer BufferOf(zmq::message_t frame);

absl::string_view BytesOf(const zmq::message_t& frame);
size_t SizeOf(const std::vector<zmq::message_t>& frames);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SOCKET_FRAMES_H_
