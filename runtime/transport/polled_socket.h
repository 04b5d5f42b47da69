// A ZeroMQ socket that is asked for messages only when it may have some. Asking one that has none costs system calls,
// and a node has several sockets for each neighbour; so a SocketPoller watches the sockets' descriptors.
//
// ZeroMQ signals on the descriptor once when something happens, and whatever uses the socket may take the signal. So
// after a signal the socket may have messages until it was asked and had none. After a Send it seldom has: the poller
// has such sockets asked from time to time.
// Thread-compatible; used by the protocol thread only.
#ifndef BANYAN_RUNTIME_TRANSPORT_POLLED_SOCKET_H_
#define BANYAN_RUNTIME_TRANSPORT_POLLED_SOCKET_H_

#include <cstddef>
#include <vector>

#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_poller.h"
#include "zmq.hpp"

namespace banyan {

class PolledSocket {
 public:
  // Throws zmq::error_t when the process has no socket left. `poller` outlives this. `owner`: the connection that it is
  // part of.
  PolledSocket(SocketPoller& poller, zmq::socket_type type, ConnectionId owner = {})
      : poller_(poller), socket_(poller.context(), type), fd_(socket_.get(zmq::sockopt::fd)) {
    readiness_.owner = owner;
    poller_.Add(fd_, readiness_);
  }
  PolledSocket(const PolledSocket&) = delete;
  PolledSocket& operator=(const PolledSocket&) = delete;
  ~PolledSocket() { poller_.Remove(fd_, readiness_); }

  // For options, addresses and monitors.
  zmq::socket_t& socket() {
    poller_.MayReceive(readiness_);
    return socket_;
  }

  SendResult Send(std::vector<zmq::message_t>& frames) {
    poller_.HasSent(readiness_);
    return SendFrames(socket_, frames);
  }

  // As ReceiveFrames.
  bool Receive(size_t max_frames, ReceivedFrames& received) {
    if (readiness_.may_receive) readiness_.may_receive = ReceiveFrames(socket_, max_frames, received);
    return readiness_.may_receive;
  }

  // Receive will ask, whatever the poller has seen.
  void OnReadable() { poller_.MayReceive(readiness_); }

 private:
  SocketPoller& poller_;
  zmq::socket_t socket_;
  const int fd_;
  SocketReadiness readiness_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_POLLED_SOCKET_H_
