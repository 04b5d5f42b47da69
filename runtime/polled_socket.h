// A ZeroMQ socket that is asked for messages only when it may have some. Asking one that has none costs system calls,
// and a node has several sockets for each neighbour; so the socket's descriptor is polled, together with all others.
//
// ZeroMQ signals on the descriptor once when something happens, and whatever uses the socket may take the signal. So
// after a signal the socket may have messages until it was asked and had none. After a Send it seldom has: who sends
// much calls AskAfterSend from time to time.
// Thread-compatible; used by the protocol thread only.
#ifndef BANYAN_RUNTIME_POLLED_SOCKET_H_
#define BANYAN_RUNTIME_POLLED_SOCKET_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/socket_frames.h"
#include "zmq.hpp"

namespace banyan {

class PolledSocket {
 public:
  // Throws zmq::error_t when the process has no socket left. `context` outlives this.
  PolledSocket(zmq::context_t& context, zmq::socket_type type)
      : socket_(context, type), fd_(socket_.get(zmq::sockopt::fd)) {}

  // For options, addresses and monitors.
  zmq::socket_t& socket() {
    may_receive_ = true;
    return socket_;
  }

  SendResult Send(std::vector<zmq::message_t>& frames) {
    has_sent_ = true;
    return SendFrames(socket_, frames);
  }
  // Whether a Send may have taken a signal since AskAfterSend, which makes the next Receive ask.
  bool has_sent() const { return has_sent_; }
  void AskAfterSend() { may_receive_ |= std::exchange(has_sent_, false); }

  // As ReceiveFrames.
  bool Receive(size_t max_frames, ReceivedFrames& received) {
    if (may_receive_) may_receive_ = ReceiveFrames(socket_, max_frames, received);
    return may_receive_;
  }

  // The descriptor to poll for reading, and that it was readable.
  int fd() const { return fd_; }
  void OnReadable() { may_receive_ = true; }
  // Whether Receive would ask. If so, do not wait for the descriptor.
  bool may_receive() const { return may_receive_; }

 private:
  zmq::socket_t socket_;
  const int fd_;
  bool may_receive_ = true;
  bool has_sent_ = false;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_POLLED_SOCKET_H_
