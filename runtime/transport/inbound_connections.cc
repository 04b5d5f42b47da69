#include "runtime/transport/inbound_connections.h"

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

// ZeroMQ gives a peer that brings no routing id five bytes, the first of them zero.
bool ChosenBySocket(absl::string_view route) { return route.size() == 5 && route[0] == '\0'; }

// The descriptor of the connection that the frame came on, -1 when ZeroMQ does not know it.
int DescriptorOf(zmq::message_t& frame) { return zmq_msg_get(frame.handle(), ZMQ_SRCFD); }

}  // namespace

absl::StatusOr<std::unique_ptr<InboundConnections>> InboundConnections::Bind(SocketPoller& poller,
                                                                             const std::string& address,
                                                                             const SocketLimits& limits) {
  const absl::Status refusal = absl::InvalidArgumentError(absl::StrCat(
      "cannot listen on ", address, ": expected tcp://IP-ADDRESS:PORT with a port up to 65535, 0 for a free one"));
  // ZeroMQ would take a larger port for a smaller one.
  int port = 0;
  if (!absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port) || port < 0 || port > 65535) return refusal;
  try {
    auto socket = std::make_unique<PolledSocket>(poller, zmq::socket_type::router);
    ApplyLimits(limits, socket->socket());
    socket->socket().set(zmq::sockopt::router_mandatory, 1);
    socket->socket().bind(address);
    return std::make_unique<InboundConnections>(poller, std::move(socket), limits);
  } catch (const zmq::error_t& error) {
    return error.num() == EADDRINUSE
               ? absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address, ": the port is taken"))
               : absl::InvalidArgumentError(absl::StrCat(refusal.message(), " (", error.what(), ")"));
  }
}

InboundConnections::InboundConnections(SocketPoller& poller, std::unique_ptr<PolledSocket> socket,
                                       const SocketLimits& limits)
    : socket_(std::move(socket)),
      monitor_(poller, socket_->socket(), ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED),
      limits_(limits) {}

std::string InboundConnections::bound_address() const { return socket_->socket().get(zmq::sockopt::last_endpoint); }

std::optional<InboundConnections::Received> InboundConnections::Receive() {
  Received received;
  while (socket_->Receive(2 + limits_.max_payload_frames, received.message)) {
    std::vector<zmq::message_t>& frames = received.message.frames;
    const std::string route(BytesOf(frames.front()));
    const int fd = DescriptorOf(frames.back());
    frames.erase(frames.begin());
    const Peer& peer = Find(route, fd);
    if (peer.closed) continue;
    received.connection = peer.connection;
    received.refused = peer.refused;
    return received;
  }
  return std::nullopt;
}

InboundConnections::Peer& InboundConnections::Find(const std::string& route, int fd) {
  const auto known = peers_.find(route);
  if (known != peers_.end()) return known->second;
  // The descriptor may have been another connection's, whose end was reported before this one began.
  Watch();
  Peer& peer = peers_[route];
  peer.connection = std::exchange(next_, next_.Next());
  peer.refused = !ChosenBySocket(route);
  routes_[peer.connection] = route;
  if (ended_early_.erase(fd) > 0) {
    gone_.push_back(route);
  } else if (fd >= 0) {
    const auto [entry, added] = routes_by_fd_.try_emplace(fd, route);
    // Connections are read in the order in which they began: the earlier one with this descriptor is no more.
    if (!added) gone_.push_back(std::exchange(entry->second, route));
  }
  return peer;
}

void InboundConnections::Watch() {
  while (const std::optional<SocketMonitor::Happening> happening = monitor_.Next()) {
    const int fd = happening->value;
    // What the connection brought is there, whether or not its signal has been seen.
    socket_->OnReadable();
    if (happening->event == ZMQ_EVENT_ACCEPTED) {
      ended_early_.erase(fd);
      continue;
    }
    const auto route = routes_by_fd_.find(fd);
    if (route == routes_by_fd_.end()) {
      ended_early_.insert(fd);
      continue;
    }
    gone_.push_back(std::move(route->second));
    routes_by_fd_.erase(route);
  }
}

std::vector<ConnectionId> InboundConnections::TakeLost() {
  std::vector<ConnectionId> lost;
  for (const std::string& route : std::exchange(gone_, {})) {
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

SendResult InboundConnections::Send(ConnectionId connection, std::vector<zmq::message_t>& frames) {
  if (!Exists(connection)) return SendResult::kNoRoute;
  const std::string& route = routes_.at(connection);
  frames.emplace(frames.begin(), route.data(), route.size());
  return socket_->Send(frames);
}

void InboundConnections::Close(ConnectionId connection) {
  const auto route = routes_.find(connection);
  if (route != routes_.end()) peers_.at(route->second).closed = true;
}

void InboundConnections::Forget(const std::string& route) {
  const auto peer = peers_.find(route);
  routes_.erase(peer->second.connection);
  peers_.erase(peer);
}

}  // namespace banyan
