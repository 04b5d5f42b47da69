#include "runtime/transport/inbound_connections.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/wire.h"

namespace banyan {
namespace {

// How much a connection can have ZeroMQ keep depends on how much comes meanwhile.
constexpr absl::Duration kLookEvery = absl::Milliseconds(250);
constexpr absl::Duration kLookAtStrangersEvery = absl::Milliseconds(20);

// ZeroMQ gives a peer that brings no routing id five bytes, the first of them zero.
bool ChosenBySocket(absl::string_view route) { return route.size() == 5 && route[0] == '\0'; }

// Where the frame comes from, as a number; empty when ZeroMQ does not know it.
std::string HostOfFrame(zmq::message_t& frame) {
  const char* host = zmq_msg_gets(frame.handle(), "Peer-Address");
  return host == nullptr ? "" : std::string(absl::StripPrefix(host, "::ffff:"));
}

// The key of whoever sent the frame, as the ZapHandler has told ZeroMQ; empty without keys.
std::string KeyBehind(zmq::message_t& frame) {
  const char* key = zmq_msg_gets(frame.handle(), "User-Id");
  return key == nullptr ? "" : key;
}

// The descriptor of the connection that the frame came on, -1 when ZeroMQ does not know it.
int DescriptorOf(zmq::message_t& frame) { return zmq_msg_get(frame.handle(), ZMQ_SRCFD); }

}  // namespace

absl::StatusOr<std::unique_ptr<InboundConnections>> InboundConnections::Bind(SocketPoller& poller,
                                                                             const std::string& address,
                                                                             const SocketLimits& limits,
                                                                             const ConnectionSecurity* security) {
  const absl::StatusOr<std::vector<TcpEndpoint>> endpoints = LookUpListeners(address);
  if (!endpoints.ok()) {
    return absl::Status(endpoints.status().code(),
                        absl::StrCat("cannot listen on ", address, ": ", endpoints.status().message()));
  }
  try {
    auto socket = std::make_unique<PolledSocket>(poller, zmq::socket_type::router);
    ApplyLimits(limits, socket->socket());
    if (security != nullptr) security->MakeServer(socket->socket());
    socket->socket().set(zmq::sockopt::router_mandatory, 1);
    // Who comes back amid a crowd must find a place.
    socket->socket().set(zmq::sockopt::backlog, static_cast<int>(limits.most_strangers));
    auto connections = std::make_unique<InboundConnections>(poller, std::move(socket), limits, security);
    // Now that its connections are watched, from the first one on.
    if (absl::Status status = connections->BindTo(address, *endpoints); !status.ok()) return status;
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
    leaving_.push_back({route, now + limits_.linger});
  } else {
    End(route);
  }
  // Whoever comes to be sent away again and again must not have us keep all that do not go.
  for (; leaving_.size() > limits_.most_strangers; leaving_.pop_front()) End(leaving_.front().route);
}

Timestamp InboundConnections::LookAt() const {
  if (is_crowded_) return Timestamp();
  return last_look_ + (accepted_.strangers() > 0 ? kLookAtStrangersEvery : kLookEvery);
}

Timestamp InboundConnections::next_deadline() const {
  if (accepted_.has_news()) return Timestamp();
  const Timestamp look_at = std::min(accepted_.empty() ? kNever : LookAt(), accepted_.hold_back_at());
  return leaving_.empty() ? look_at : std::min(look_at, leaving_.front().deadline);
}

int InboundConnections::EndOverdue(Timestamp now) {
  while (!leaving_.empty() && now >= leaving_.front().deadline) {
    End(leaving_.front().route);
    leaving_.pop_front();
  }
  if (now < LookAt()) return 0;
  last_look_ = now;
  is_crowded_ = false;
  return accepted_.EndCrowd(limits_.most_strangers) +
         accepted_.EndHoarders(limits_.max_message_bytes, limits_.max_stranger_bytes);
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
