#include "runtime/transport/socket_monitor.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {

SocketMonitor::SocketMonitor(SocketPoller& poller, zmq::socket_t& watched, int events, ConnectionId owner)
    : watched_(watched), receiver_(poller, zmq::socket_type::pair, owner) {
  // The address of the watched socket names it among all of this context while both live.
  const std::string address = absl::StrCat("inproc://monitor-", reinterpret_cast<uintptr_t>(watched.handle()));
  if (zmq_socket_monitor(watched.handle(), address.c_str(), events) != 0) throw zmq::error_t();
  // An I/O thread that reports an event must never wait for the reader.
  zmq::socket_t& receiver = receiver_.socket();
  receiver.set(zmq::sockopt::rcvhwm, 0);
  receiver.set(zmq::sockopt::linger, 0);
  receiver.connect(address);
}

SocketMonitor::~SocketMonitor() { zmq_socket_monitor(watched_.handle(), nullptr, 0); }

std::optional<SocketMonitor::Happening> SocketMonitor::Next() {
  ReceivedFrames received;
  if (!receiver_.Receive(2, received)) return std::nullopt;
  const zmq::message_t& frame = received.frames.front();
  Happening happening;
  uint32_t value = 0;
  BANYAN_CHECK(frame.size() == sizeof(happening.event) + sizeof(value));
  std::memcpy(&happening.event, frame.data(), sizeof(happening.event));
  std::memcpy(&value, static_cast<const char*>(frame.data()) + sizeof(happening.event), sizeof(value));
  happening.value = static_cast<int>(value);
  return happening;
}

}  // namespace banyan
