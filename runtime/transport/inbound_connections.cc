#include "runtime/transport/inbound_connections.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "posix/file_descriptor.h"
#include "posix/unix_socket.h"
#include "proto/wire.h"

namespace banyan {

// ---- the sockets that it has accepted ----

namespace {

// What ZeroMQ has taken from the kernel so far; 0 when the kernel does not say.
int64_t TakenBytes(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  int queued_bytes = 0;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || ioctl(fd, SIOCINQ, &queued_bytes) != 0) return 0;
  return static_cast<int64_t>(info.tcpi_bytes_received) - queued_bytes;
}

// What all that ZeroMQ says and keeps of a connection at rest is less than.
constexpr int64_t kFewBytes = int64_t{1} << 16;

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
  std::vector<int> accepted;
  while (const std::optional<SocketMonitor::Happening> happening = monitor_.Next()) {
    has_news_ = true;
    if (happening->event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
      ++malformed_;
    } else if (happening->event == ZMQ_EVENT_LISTENING) {
      listening_.push_back(happening->value);
    } else if (happening->event == ZMQ_EVENT_ACCEPTED) {
      OnAccepted(happening->value);
      accepted.push_back(happening->value);
    } else {
      OnDisconnected(sockets_[happening->value]);
    }
  }
  // The number of one that has gone since may be another one's, and would name the host of that.
  for (const int fd : accepted) {
    if (Accepted& socket = sockets_[fd]; !socket.has_ended) socket.host = HostOf(fd);
  }
  EndOtherUsers(accepted);
}

void AcceptedSockets::EndOtherUsers(const std::vector<int>& accepted) {
  for (const int fd : accepted) {
    const Accepted& socket = sockets_[fd];
    if (!socket.has_ended && !socket.host.has_value() && IsOfOtherUser(fd)) EndIfStillThere(fd, socket.ordinal);
  }
}

void AcceptedSockets::OnAccepted(int fd) {
  sockets_[fd] = Accepted{.ordinal = next_ordinal_++};
  ++open_;
  ++strangers_;
}

void AcceptedSockets::OnDisconnected(Accepted& socket) {
  if (socket.has_ended) return;
  if (socket.IsStranger()) --strangers_;
  if (!socket.route.empty()) {
    ended_.push_back(std::move(socket.route));
  } else if (encrypts_) {
    rates_.CountStranger(socket.host);
  }
  socket = Accepted{.has_ended = true};
  --open_;
}

std::vector<std::string> AcceptedSockets::HoldBack(Timestamp now) {
  if (cannot_hold_back_ || !rates_.Decide(now)) return {};
  for (const int fd : listening_) {
    if (IsUnixSocket(fd)) continue;
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

int AcceptedSockets::EndHoarders(int64_t most_bytes, int64_t most_of_strangers, bool looks_at_all) {
  struct Hoard {
    int64_t bytes = 0;
    int fd = -1;
    uint64_t ordinal = 0;
  };
  std::vector<Hoard> of_strangers;
  std::vector<Hoard> too_large;
  int64_t strangers_bytes = 0;
  holds_parts_ = holds_parts_ && !looks_at_all;
  for (const auto& [fd, socket] : sockets_) {
    if (socket.has_ended || socket.is_ending || (!looks_at_all && !socket.IsStranger())) continue;
    const Hoard hoard{TakenBytes(fd) - socket.read_bytes, fd, socket.ordinal};
    holds_parts_ = holds_parts_ || (looks_at_all && hoard.bytes > kFewBytes);
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

// ---- the ROUTER socket's connections ----

namespace {

// How much a connection can have ZeroMQ keep depends on how much comes meanwhile. A process in which nothing happens
// wakes seldomer for a look, unless the last one has found parts of messages.
constexpr absl::Duration kLookEvery = absl::Milliseconds(250);
constexpr absl::Duration kLookAtRestEvery = absl::Seconds(1);
constexpr absl::Duration kLookAtStrangersEvery = absl::Milliseconds(20);

// ZeroMQ gives a peer that brings no routing id five bytes, the first of them zero.
bool ChosenBySocket(absl::string_view route) { return route.size() == 5 && route[0] == '\0'; }

// Where the frame comes from, as a number; empty when ZeroMQ does not know it.
std::string HostOfFrame(zmq::message_t& frame) {
  const char* host = zmq_msg_gets(frame.handle(), "Peer-Address");
  return host == nullptr ? "" : std::string(absl::StripPrefix(host, "::ffff:"));
}

// The key of whoever sent the frame, as ConnectionSecurity has told ZeroMQ; empty without keys.
std::string KeyBehind(zmq::message_t& frame) {
  const char* key = zmq_msg_gets(frame.handle(), "User-Id");
  return key == nullptr ? "" : key;
}

// The descriptor of the connection that the frame came on, -1 when ZeroMQ does not know it.
int DescriptorOf(zmq::message_t& frame) { return zmq_msg_get(frame.handle(), ZMQ_SRCFD); }

}  // namespace

absl::StatusOr<std::unique_ptr<InboundConnections>> InboundConnections::Bind(SocketPoller& poller,
                                                                             const std::string& address,
                                                                             const SocketLimits& limits, Use use,
                                                                             const ConnectionSecurity* security) {
  const absl::StatusOr<std::vector<TcpEndpoint>> endpoints = LookUpListeners(address);
  if (!endpoints.ok()) {
    return absl::Status(endpoints.status().code(),
                        absl::StrCat("cannot listen on ", address, ": ", endpoints.status().message()));
  }
  try {
    auto socket = std::make_unique<PolledSocket>(poller, zmq::socket_type::router);
    ApplyLimits(limits, socket->socket());
    if (use == Use::kDataPort) ConnectionSecurity::MakeForDataPort(socket->socket());
    if (security != nullptr) security->MakeServer(socket->socket());
    socket->socket().set(zmq::sockopt::router_mandatory, 1);
    // Who comes back amid a crowd must find a place.
    socket->socket().set(zmq::sockopt::backlog, static_cast<int>(limits.most_strangers));
    auto connections = std::make_unique<InboundConnections>(poller, std::move(socket), limits, security);
    // Now that its connections are watched, from the first one on.
    if (absl::Status status = connections->BindTo(address, *endpoints); !status.ok()) return status;
    // With keys chunks go to the data port.
    const bool takes_chunks = use == Use::kDataPort || security == nullptr;
    if (limits.uses_unix_sockets && takes_chunks) connections->BindUnixSockets();
    return connections;
  } catch (const zmq::error_t& error) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot listen on ", address, ": ", error.what()));
  }
}

absl::Status InboundConnections::BindTo(const std::string& address, const std::vector<TcpEndpoint>& endpoints) {
  int error = 0;
  for (const TcpEndpoint& endpoint : endpoints) {
    // Where IPv6 takes both families, and where the port is to be a free one, the first is all of them.
    const bool is_last_one = endpoint.host == "::" || endpoint.port == "0";
    socket_->socket().set(zmq::sockopt::ipv6, endpoint.is_ipv6);
    if (zmq_bind(socket_->socket().handle(), endpoint.Address().c_str()) != 0) {
      if (error == 0) error = zmq_errno();
      if (zmq_errno() == EADDRINUSE) break;
      continue;
    }
    if (bound_address_.empty()) bound_address_ = socket_->socket().get(zmq::sockopt::last_endpoint);
    if (is_last_one) return absl::OkStatus();
  }
  if (error != EADDRINUSE && !bound_address_.empty()) return absl::OkStatus();
  if (error == EADDRINUSE) {
    return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address, ": the port is taken"));
  }
  const std::string number = endpoints.front().Address();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot listen on ", address, number == address ? "" : absl::StrCat(", which is ", number), ": ",
                   zmq_strerror(error),
                   error == EACCES ? "; ports below 1024 need root or CAP_NET_BIND_SERVICE: choose a higher one"
                                   : "; give an address of this machine, or * for all of them"));
}

void InboundConnections::BindUnixSockets() {
  std::optional<TcpEndpoint> bound = NumericEndpoint(bound_address_);
  if (!bound.has_value()) return;
  std::vector<std::string> hosts = {bound->host};
  if (bound->host == "0.0.0.0" || bound->host == "::") hosts = {"127.0.0.1", "::1"};
  for (std::string& host : hosts) {
    bound->host = std::move(host);
    const std::optional<std::string> address = bound->UnixAddress();
    if (address.has_value()) (void)zmq_bind(socket_->socket().handle(), address->c_str());
  }
}

InboundConnections::InboundConnections(SocketPoller& poller, std::unique_ptr<PolledSocket> socket,
                                       const SocketLimits& limits, const ConnectionSecurity* security)
    : socket_(std::move(socket)),
      accepted_(poller, socket_->socket(), limits, security != nullptr),
      limits_(limits),
      security_(security) {}

std::optional<InboundConnections::Received> InboundConnections::Receive() {
  Received received;
  if (!socket_->Receive(2 + limits_.max_payload_frames, received.message)) return std::nullopt;
  std::vector<zmq::message_t>& frames = received.message.frames;
  const std::string route(BytesOf(frames.front()));
  const int fd = DescriptorOf(frames.back());
  if (!peers_.contains(route)) {
    received.accepted_from = HostOfFrame(frames.back());
    received.public_key = KeyBehind(frames.back());
    Find(route, fd).public_key = received.public_key;
  }
  frames.erase(frames.begin());
  const Peer& peer = Find(route, fd);
  accepted_.CountRead(route, fd, frames);
  received.connection = peer.connection;
  received.refused = peer.refused;
  received.closed = peer.closed;
  return received;
}

InboundConnections::Peer& InboundConnections::Find(const std::string& route, int fd) {
  const auto known = peers_.find(route);
  if (known != peers_.end()) return known->second;
  Peer& peer = peers_[route];
  peer.connection = std::exchange(next_, next_.Next());
  peer.fd = fd;
  peer.refused = !ChosenBySocket(route);
  routes_[peer.connection] = route;
  accepted_.Name(route, fd);
  return peer;
}

void InboundConnections::Watch() {
  if (accepted_.Watch()) socket_->OnReadable();
  // Each of them holds a descriptor, and the next look may be too late.
  is_crowded_ = accepted_.strangers() > limits_.most_strangers;
}

std::vector<ConnectionId> InboundConnections::TakeLost() {
  std::vector<ConnectionId> lost;
  for (const std::string& route : accepted_.TakeEnded()) {
    const auto peer = peers_.find(route);
    if (peer == peers_.end()) continue;
    if (!peer->second.closed) lost.push_back(peer->second.connection);
    Forget(route);
  }
  return lost;
}

bool InboundConnections::Exists(ConnectionId connection) const {
  const auto route = routes_.find(connection);
  return route != routes_.end() && !peers_.at(route->second).closed;
}

absl::string_view InboundConnections::KeyOf(ConnectionId connection) const {
  const auto route = routes_.find(connection);
  return route == routes_.end() ? absl::string_view() : peers_.at(route->second).public_key;
}

std::vector<ConnectionId> InboundConnections::Unlisted() const {
  std::vector<ConnectionId> unlisted;
  for (const auto& [route, peer] : peers_) {
    if (!peer.closed && security_->table().Find(peer.public_key) == nullptr) unlisted.push_back(peer.connection);
  }
  return unlisted;
}

SendResult InboundConnections::Send(ConnectionId connection, std::vector<zmq::message_t>& frames) {
  if (!Exists(connection)) return SendResult::kNoRoute;
  const std::string& route = routes_.at(connection);
  frames.emplace(frames.begin(), route.data(), route.size());
  return socket_->Send(frames);
}

void InboundConnections::Close(ConnectionId connection, absl::string_view reason, Timestamp now) {
  if (!Exists(connection)) return;
  const std::string route = routes_.at(connection);
  const std::string header = EncodeMessage(GoAway{std::string(reason)});
  std::vector<zmq::message_t> frames;
  frames.emplace_back(header.data(), header.size());
  const SendResult told = Send(connection, frames);
  peers_.at(route).closed = true;
  if (told == SendResult::kSent) {
    Await(route, now);
  } else {
    End(route);
  }
}

void InboundConnections::Leave(ConnectionId connection, Timestamp now) {
  if (Exists(connection)) Await(routes_.at(connection), now);
}

void InboundConnections::Drop(ConnectionId connection) {
  if (!Exists(connection)) return;
  const std::string& route = routes_.at(connection);
  peers_.at(route).closed = true;
  End(route);
}

void InboundConnections::Await(const std::string& route, Timestamp now) {
  leaving_.push_back({route, now + limits_.linger});
  // Whoever comes to be sent away again and again must not have us keep all that do not go.
  for (; leaving_.size() > limits_.most_strangers; leaving_.pop_front()) End(leaving_.front().route);
}

Timestamp InboundConnections::LookAt(absl::Duration at_rest) const {
  if (is_crowded_) return Timestamp();
  if (accepted_.strangers() > 0) return last_look_ + kLookAtStrangersEvery;
  return last_look_ + (accepted_.holds_parts() ? kLookEvery : at_rest);
}

Timestamp InboundConnections::next_deadline() const {
  if (accepted_.has_news()) return Timestamp();
  const Timestamp look_at = std::min(accepted_.empty() ? kNever : LookAt(kLookAtRestEvery), accepted_.hold_back_at());
  return leaving_.empty() ? look_at : std::min(look_at, leaving_.front().deadline);
}

int InboundConnections::EndOverdue(Timestamp now) {
  while (!leaving_.empty() && now >= leaving_.front().deadline) {
    End(leaving_.front().route);
    leaving_.pop_front();
  }
  if (now < LookAt(kLookEvery)) return 0;
  last_look_ = now;
  is_crowded_ = false;
  // While strangers come, as when all nodes of a job connect, most others have nothing new: each costs system calls.
  const bool looks_at_all = now - looked_at_all_ >= kLookEvery;
  if (looks_at_all) looked_at_all_ = now;
  return accepted_.EndCrowd(limits_.most_strangers) +
         accepted_.EndHoarders(limits_.max_message_bytes, limits_.max_stranger_bytes, looks_at_all);
}

void InboundConnections::End(const std::string& route) {
  const auto peer = peers_.find(route);
  if (peer != peers_.end()) accepted_.End(route, peer->second.fd);
}

void InboundConnections::Forget(const std::string& route) {
  const auto peer = peers_.find(route);
  routes_.erase(peer->second.connection);
  peers_.erase(peer);
}

}  // namespace banyan
