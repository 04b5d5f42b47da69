// Watches one ZeroMQ socket's connections come and go. Thread-compatible: used by the thread that owns the watched
// socket, and destroyed before it.
#ifndef BANYAN_RUNTIME_TRANSPORT_SOCKET_MONITOR_H_
#define BANYAN_RUNTIME_TRANSPORT_SOCKET_MONITOR_H_

#include <cstdint>
#include <optional>

#include "runtime/transport/polled_socket.h"
#include "runtime/transport/socket_poller.h"
#include "zmq.hpp"

namespace banyan {

class SocketMonitor {
 public:
  struct Happening {
    uint16_t event = 0;  // ZMQ_EVENT_...
    int value = 0;       // a file descriptor or an errno, as the event defines
  };

  // Reports the events in the mask `events`. `watched`, which is part of the connection `owner`, and `poller` outlive
  // this. Throws zmq::error_t when the process has no socket left.
  SocketMonitor(SocketPoller& poller, zmq::socket_t& watched, int events, ConnectionId owner = {});
  SocketMonitor(const SocketMonitor&) = delete;
  SocketMonitor& operator=(const SocketMonitor&) = delete;
  ~SocketMonitor();

  // The next event that waits, if any. Never blocks.
  std::optional<Happening> Next();
  // Makes Next give all that has been reported by now, whether or not its signal has been seen.
  void LookAgain() { receiver_.OnReadable(); }

 private:
  zmq::socket_t& watched_;
  PolledSocket receiver_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SOCKET_MONITOR_H_
