#include "runtime/transport/accepted_sockets.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "posix/file_descriptor.h"
#include "runtime/transport/syn_filter.h"

namespace banyan {
namespace {

// What ZeroMQ has taken from the kernel so far; 0 when the kernel does not say.
int64_t TakenBytes(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  int queued_bytes = 0;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || ioctl(fd, SIOCINQ, &queued_bytes) != 0) return 0;
  return static_cast<int64_t>(info.tcpi_bytes_received) - queued_bytes;
}

// Of a frame on the wire, its length included.
int64_t WireBytes(const zmq::message_t& frame, bool encrypts) {
  constexpr size_t kLongestShort = 255;
  constexpr size_t kCurveBytes = 33;  // a name, a number, a flag, and what proves that nothing was changed
  const size_t body_bytes = frame.size() + (encrypts ? kCurveBytes : 0);
  return static_cast<int64_t>(body_bytes) + (body_bytes > kLongestShort ? 9 : 2);
}

// The host at the other end of a connection; nothing when it has ended.
std::optional<HostPrefix> HostOf(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return HostPrefixOf(address);
}

}  // namespace

AcceptedSockets::AcceptedSockets(SocketPoller& poller, zmq::socket_t& router, const SocketLimits& limits, bool encrypts)
    : monitor_(poller, router,
               ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL),
      encrypts_(encrypts),
      rates_(limits.most_failed_of_host_hz, limits.most_failed_hz) {}

bool AcceptedSockets::Watch() {
  Read();
  return std::exchange(has_news_, false);
}

void AcceptedSockets::Read() {
  while (const std::optional<SocketMonitor::Happening> happening = monitor_.Next()) {
    has_news_ = true;
    if (happening->event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      ++malformed_;
    } else if (happening->event == ZMQ_EVENT_LISTENING) {
      listening_.push_back(happening->value);
    } else if (happening->event == ZMQ_EVENT_ACCEPTED) {
      OnAccepted(happening->value);
    } else {
      OnDisconnected(sockets_[happening->value]);
    }
  }
}

void AcceptedSockets::OnAccepted(int fd) {
  sockets_[fd] = Accepted{.ordinal = next_ordinal_++, .host = HostOf(fd)};
  ++open_;
  ++strangers_;
}

void AcceptedSockets::OnDisconnected(Accepted& socket) {
  if (socket.has_ended) return;
  if (socket.IsStranger()) --strangers_;
  if (!socket.route.empty()) {
    ended_.push_back(std::move(socket.route));
  } else if (encrypts_ && socket.host.has_value()) {
    rates_.CountStranger(*socket.host);
  }
  socket = Accepted{.has_ended = true};
  --open_;
}

std::vector<std::string> AcceptedSockets::HoldBack(Timestamp now) {
  if (cannot_hold_back_ || !rates_.Decide(now)) return {};
  for (const int fd : listening_) {
    const absl::Status status = AttachSynFilter(fd, rates_.admission());
    if (status.ok()) continue;
    cannot_hold_back_ = true;
    return {std::string(status.message())};
  }
  return rates_.TakeHeldBack();
}

void AcceptedSockets::Name(const std::string& route, int fd) {
  if (fd < 0) return;
  // A connection is reported before its messages come. So the last report of the descriptor is of this connection or of
  // a later one.
  monitor_.LookAgain();
  Read();
  Accepted& socket = sockets_[fd];
  if (socket.has_ended) {
    ended_.push_back(route);
    return;
  }
  // Connections are read in the order in which they began: the earlier one with this descriptor is no more.
  if (socket.IsStranger()) --strangers_;
  if (!socket.route.empty()) ended_.push_back(std::move(socket.route));
  socket.route = route;
  socket.read_bytes = 0;
  if (encrypts_ && socket.host.has_value()) rates_.CountKnown(*socket.host);
}

void AcceptedSockets::CountRead(const std::string& route, int fd, const std::vector<zmq::message_t>& frames) {
  const auto socket = sockets_.find(fd);
  if (socket == sockets_.end() || socket->second.route != route) return;
  for (const zmq::message_t& frame : frames) socket->second.read_bytes += WireBytes(frame, encrypts_);
}

std::vector<std::string> AcceptedSockets::TakeEnded() { return std::exchange(ended_, {}); }

void AcceptedSockets::End(const std::string& route, int fd) {
  const auto socket = sockets_.find(fd);
  if (socket != sockets_.end() && socket->second.route == route) EndIfStillThere(fd, socket->second.ordinal);
}

int AcceptedSockets::EndHoarders(int64_t most_bytes, int64_t most_of_strangers) {
  struct Hoard {
    int64_t bytes = 0;
    int fd = -1;
    uint64_t ordinal = 0;
  };
  std::vector<Hoard> of_strangers;
  std::vector<Hoard> too_large;
  int64_t strangers_bytes = 0;
  for (const auto& [fd, socket] : sockets_) {
    if (socket.has_ended || socket.is_ending) continue;
    const Hoard hoard{TakenBytes(fd) - socket.read_bytes, fd, socket.ordinal};
    if (socket.route.empty()) {
      of_strangers.push_back(hoard);
      strangers_bytes += hoard.bytes;
    } else if (hoard.bytes > most_bytes) {
      too_large.push_back(hoard);
    }
  }
  std::sort(of_strangers.begin(), of_strangers.end(), [](const Hoard& a, const Hoard& b) { return a.bytes > b.bytes; });
  for (const Hoard& hoard : of_strangers) {
    if (strangers_bytes <= most_of_strangers) break;
    too_large.push_back(hoard);
    strangers_bytes -= hoard.bytes;
  }
  int count = 0;
  for (const Hoard& hoard : too_large) count += EndIfStillThere(hoard.fd, hoard.ordinal) ? 1 : 0;
  return count;
}

int AcceptedSockets::EndCrowd(size_t most) {
  if (strangers() <= most) return 0;
  struct Stranger {
    int fd = -1;
    uint64_t ordinal = 0;
  };
  std::map<std::optional<HostPrefix>, std::vector<Stranger>> by_host;
  size_t count = 0;
  for (const auto& [fd, socket] : sockets_) {
    if (!socket.IsStranger()) continue;
    by_host[socket.host].push_back({fd, socket.ordinal});
    ++count;
  }
  for (auto& [host, strangers] : by_host) {
    std::sort(strangers.begin(), strangers.end(),
              [](const Stranger& a, const Stranger& b) { return a.ordinal > b.ordinal; });
  }
  int ended = 0;
  for (; count > most; --count) {
    const auto largest = std::max_element(
        by_host.begin(), by_host.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const Stranger oldest = largest->second.back();
    largest->second.pop_back();
    ended += EndIfStillThere(oldest.fd, oldest.ordinal) ? 1 : 0;
  }
  return ended;
}

// The duplicate names what the number named when it was made. If the end of the connection has not been reported by
// then, that was the connection, whatever becomes of the number.
bool AcceptedSockets::EndIfStillThere(int fd, uint64_t ordinal) {
  const FileDescriptor duplicate(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  monitor_.LookAgain();
  Read();
  const auto socket = sockets_.find(fd);
  const bool is_there = socket != sockets_.end() && socket->second.ordinal == ordinal && !socket->second.has_ended;
  if (!is_there || socket->second.is_ending || shutdown(duplicate.get(), SHUT_RDWR) != 0) return false;
  if (socket->second.IsStranger()) --strangers_;
  socket->second.is_ending = true;
  return true;
}

}  // namespace banyan
