#include "runtime/transport/outbound_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace banyan {
namespace {

constexpr int kLosses = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr int kWatched = kLosses | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
// A new connection gets a new socket: the old one has gone long before it would connect again. Told never to, ZeroMQ
// would throw away what had arrived on the lost connection and was not read yet.
constexpr int kReconnectMs = 3'600'000;

}  // namespace

OutboundConnection::OutboundConnection(SocketPoller& poller, std::string address, const SocketLimits& limits,
                                       Timestamp now)
    : poller_(poller), address_(std::move(address)), limits_(limits), pause_(limits.shortest_pause) {
  Open(now);
}

void OutboundConnection::Open(Timestamp now) {
  opened_at_ = now;
  retry_at_ = now + limits_.connect_timeout;
  try {
    zmq::socket_t& socket = socket_.emplace(poller_, zmq::socket_type::dealer).socket();
    ApplyLimits(limits_, socket);
    socket.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    monitor_.emplace(poller_, socket, kWatched);
    socket.connect(address_);
  } catch (const zmq::error_t&) {
    // An address without sense, or more connections than this process can have: others decided both. It stays down, and
    // the core says who cannot be reached.
    Drop();
    retry_at_ = now + limits_.longest_pause;
  }
}

void OutboundConnection::Drop() {
  up_ = false;
  connected_ = SocketIdentity();
  renewal_.Forget();
  monitor_.reset();
  // What waits on a lost connection must not delay the end of the process.
  if (socket_) socket_->socket().set(zmq::sockopt::linger, 0);
  socket_.reset();
}

OutboundConnection::Change OutboundConnection::Watch() {
  Change change = Change::kNone;
  while (monitor_) {
    const std::optional<SocketMonitor::Happening> happening = monitor_->Next();
    if (!happening) break;
    if ((happening->event & kLosses) != 0) {
      // What came before the loss is there, whether or not its signal has been seen.
      socket_->OnReadable();
      return Change::kLost;
    }
    if (happening->event == ZMQ_EVENT_CONNECTED) {
      connected_ = SocketIdentity(happening->value);
      renewal_.Watch(happening->value, opened_at_);
      ApplyPace();
      continue;
    }
    up_ = true;
    retry_at_ = kNever;
    change = Change::kUp;
  }
  return change;
}

void OutboundConnection::SetPace(double rate_bps) {
  pace_bps_ = rate_bps;
  ApplyPace();
}

// A kernel that does not pace leaves the connection as it is. The number of one that has just been closed may name
// another connection already, whose pace it must not change.
void OutboundConnection::ApplyPace() const {
  const int fd = connected_.Descriptor();
  if (fd < 0) return;
  const uint64_t bytes_per_second =
      std::isfinite(pace_bps_) ? static_cast<uint64_t>(pace_bps_ / 8) : std::numeric_limits<uint64_t>::max();
  setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_second, sizeof(bytes_per_second));
}

void OutboundConnection::Reset(Timestamp now) {
  if (now - opened_at_ > limits_.longest_pause) pause_ = limits_.shortest_pause;
  Drop();
  retry_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, limits_.longest_pause);
}

void OutboundConnection::Retry(Timestamp now) {
  Drop();
  Open(now);
}

bool OutboundConnection::Receive(ReceivedFrames& received) {
  return socket_ && socket_->Receive(1 + limits_.max_payload_frames, received);
}

}  // namespace banyan
