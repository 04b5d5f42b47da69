#include "runtime/transport/transport.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "posix/process_limits.h"
#include "proto/wire.h"

namespace banyan {
namespace {

constexpr int kOutboundBatch = 64;
constexpr int kInboundBatch = 256;
// A connection has two, one of them its monitor.
constexpr int kMaxSockets = 16384;

std::vector<zmq::message_t> FramesOf(const Message& message, const Payload& payload) {
  const std::string header = EncodeMessage(message);
  std::vector<zmq::message_t> frames;
  frames.reserve(2 + payload.size());
  frames.emplace_back(header.data(), header.size());
  for (const Buffer& buffer : payload) frames.push_back(FrameOf(buffer));
  return frames;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Bind(const std::string& address, const SocketLimits& limits,
                                                           std::optional<SecurityOptions> security) {
  auto transport = std::make_unique<Transport>(limits, std::move(security));
  auto inbound = InboundConnections::Bind(transport->poller_, address, limits, InboundConnections::Use::kEverything,
                                          transport->security_.get());
  if (!inbound.ok()) return inbound.status();
  transport->inbound_ = *std::move(inbound);
  transport->bound_address_ = transport->inbound_->bound_address();
  return transport;
}

Transport::Transport(const SocketLimits& limits, std::optional<SecurityOptions> security)
    : limits_(limits), data_port_number_(security.has_value() ? security->data_port : 0), poller_(kMaxSockets) {
  if (security.has_value()) security_ = std::make_unique<ConnectionSecurity>(poller_, *std::move(security));
}

Transport::~Transport() {
  outbound_.clear();
  data_port_.reset();
  inbound_.reset();
  security_.reset();
}

void Transport::Connect(const banyan::Connect& connect, Timestamp now) {
  BANYAN_CHECK(connect.connection < kInboundConnection && outbound_.count(connect.connection) == 0);
  std::unique_ptr<OutboundConnection>& connection = outbound_[connect.connection];
  connection = std::make_unique<OutboundConnection>(
      OutboundConnection::Surroundings{&poller_, &dialler_, security_.get()},
      OutboundConnection::Destination{connect.connection, connect.address, connect.peer,
                                      connect.channel == Channel::kData},
      limits_, now);
  NoteLook(connect.connection, *connection);
}

void Transport::NoteLook(ConnectionId id, const OutboundConnection& connection) {
  if (connection.wants_look()) looks_.insert(id);
  const Timestamp retry_at = connection.retry_at();
  Timestamp& noted = retries_.try_emplace(id, kNever).first->second;
  if (noted == retry_at) return;
  by_retry_.erase({noted, id});
  noted = retry_at;
  if (noted != kNever) by_retry_.insert({noted, id});
}

void Transport::Disconnect(const banyan::Disconnect& disconnect, Timestamp now) {
  Close(disconnect.connection, disconnect.reason.empty() ? "it was closed" : disconnect.reason, now);
}

void Transport::Close(ConnectionId connection, absl::string_view reason, Timestamp now) {
  if (outbound_.erase(connection) > 0) {
    looks_.erase(connection);
    const auto retry = retries_.extract(connection);
    if (!retry.empty()) by_retry_.erase({retry.mapped(), connection});
  }
  inbound_->Close(connection, reason, now);
  if (data_port_ != nullptr) data_port_->Close(connection, now);
  counters_.Close(connection);
}

void Transport::Renew(const banyan::Renew& renew, Timestamp now) {
  const auto outbound = outbound_.find(renew.connection);
  if (outbound == outbound_.end() || !outbound->second->up()) return;
  if (renew.unless_moving && outbound->second->Moves()) return;
  outbound->second->Reset(now);
  NoteLook(renew.connection, *outbound->second);
  pending_.emplace_back(ConnectionDown{renew.connection});
}

void Transport::Admit(std::vector<ListedKey> keys, Timestamp now) {
  if (security_ == nullptr) return;
  security_->Admit(std::move(keys));
  std::vector<ConnectionId> unlisted = inbound_->Unlisted();
  if (data_port_ != nullptr) {
    for (const ConnectionId left : data_port_->Unlisted(security_->table())) {
      if (!inbound_->Exists(left)) unlisted.push_back(left);
    }
  }
  for (const ConnectionId connection : unlisted) {
    Close(connection, "its key is not listed any more", now);
    pending_.emplace_back(ConnectionDown{connection});
  }
  for (auto& [id, connection] : outbound_) {
    if (connection->IsTrusted()) continue;
    if (connection->up()) pending_.emplace_back(ConnectionDown{id});
    connection->Reset(now);
    NoteLook(id, *connection);
  }
}

void Transport::SetPace(const Pace& pace) {
  const auto outbound = outbound_.find(pace.connection);
  if (outbound != outbound_.end()) outbound->second->SetPace(pace.rate_bps);
}

bool Transport::Exists(ConnectionId connection) const {
  if (connection < kInboundConnection) return outbound_.count(connection) > 0;
  return inbound_->Exists(connection) || (data_port_ != nullptr && data_port_->Has(connection));
}

SendResult Transport::Dispatch(ConnectionId connection, std::vector<zmq::message_t>& frames, Timestamp now) {
  if (connection >= kInboundConnection) {
    const bool goes_by_data_port = data_port_ != nullptr && data_port_->Has(connection);
    return goes_by_data_port ? data_port_->Send(connection, frames) : inbound_->Send(connection, frames);
  }
  const auto outbound = outbound_.find(connection);
  if (outbound == outbound_.end() || !outbound->second->up()) return SendResult::kNoRoute;
  // It may have found out that packets have overtaken each other.
  looks_.insert(connection);
  return outbound->second->Send(frames, now);
}

void Transport::Send(const banyan::Send& send, Timestamp now) {
  if (!Exists(send.connection)) return counters_.CountDroppedSend();
  std::vector<zmq::message_t> frames = FramesOf(send.message, send.payload);
  const size_t size_bytes = SizeOf(frames);
  const SendResult result = Dispatch(send.connection, frames, now);
  if (result == SendResult::kSent) return counters_.CountSent(send.connection, size_bytes);
  counters_.CountDroppedSend();
  if (result != SendResult::kFull) return;
  // A message has been lost on a connection that stands: only a new connection makes both sides know.
  if (send.connection < kInboundConnection) {
    OutboundConnection& connection = *outbound_.at(send.connection);
    connection.Reset(now);
    NoteLook(send.connection, connection);
  } else {
    Close(send.connection, "too much waits to be sent on it", now);
  }
  pending_.emplace_back(ConnectionDown{send.connection});
}

Timestamp Transport::NextDeadline() const {
  Timestamp next = inbound_->next_deadline();
  if (data_port_ != nullptr) next = std::min(next, data_port_->next_deadline());
  return by_retry_.empty() ? next : std::min(next, by_retry_.begin()->first);
}

bool Transport::Wait(int wakeup_fd, Timestamp deadline) {
  return poller_.Wait(wakeup_fd, pending_.empty() ? std::min(deadline, NextDeadline()) : Timestamp());
}

void Transport::Collect(Timestamp now, std::vector<Event>& events) {
  std::move(pending_.begin(), pending_.end(), std::back_inserter(events));
  pending_.clear();
  poller_.AskAfterSends(now);
  CollectOutbound(now, events);
  CollectRefused(events);
  CollectInbound(now, events);
  CollectFromDataPort(now, events);
  CheckDescriptors(now, events);
}

void Transport::CollectOutbound(Timestamp now, std::vector<Event>& events) {
  std::set<ConnectionId> looks = poller_.ReadyOwners();
  looks.merge(std::exchange(looks_, {}));
  for (auto due = by_retry_.begin(); due != by_retry_.end() && due->first <= now; ++due) looks.insert(due->second);
  for (const ConnectionId id : looks) {
    const auto connection = outbound_.find(id);
    if (connection == outbound_.end()) continue;
    CollectOutbound(id, *connection->second, now, events);
    NoteLook(id, *connection->second);
  }
}

void Transport::CheckDescriptors(Timestamp now, std::vector<Event>& events) {
  if (now - descriptors_at_ < kLookAtDescriptorsEvery) return;
  descriptors_at_ = now;
  const auto at_data_ports = std::count_if(outbound_.begin(), outbound_.end(),
                                           [](const auto& connection) { return connection.second->uses_data_port(); });
  const int64_t needed =
      kOtherDescriptors + kDescriptorsPerConnection * (static_cast<int64_t>(outbound_.size()) + at_data_ports);
  if (needed > DescriptorLimit() && outbound_.size() > most_told_connections_) {
    most_told_connections_ = outbound_.size();
    Reject(ConnectionId(),
           absl::ResourceExhaustedError(absl::StrCat("its ", outbound_.size(), " connections to others take up to ",
                                                     needed, " descriptors, and ", DescriptorAdvice())),
           events);
  }
  // ZeroMQ says nothing of those whom it cannot accept, and they hear nothing.
  if (HasDescriptorLeft()) return;
  Reject(ConnectionId(),
         absl::ResourceExhaustedError(
             absl::StrCat("no descriptor is left, so no process can connect; ", DescriptorAdvice())),
         events);
}

void Transport::CollectOutbound(ConnectionId id, OutboundConnection& connection, Timestamp now,
                                std::vector<Event>& events) {
  const bool was_up = connection.up();
  const OutboundConnection::Change change = connection.Watch();
  if (!was_up && connection.up()) events.emplace_back(ConnectionUp{id});
  if (change == OutboundConnection::Change::kLost) return Lose(id, connection, now, events);
  ReceivedFrames received;
  for (int i = 0; i < kOutboundBatch && connection.Receive(received, now); ++i) {
    // What comes after such a message is not for this process.
    if (!Decode(id, std::move(received), now, events)) return Drop(id, connection, now, events);
  }
  if (now >= connection.retry_at()) connection.Retry(now);
  if (const uint64_t times = connection.TakeOvertakings(); times > 0) {
    events.emplace_back(PacketsOvertook{id, times});
  }
  if (std::optional<std::string> failure = connection.TakeFailure()) {
    events.emplace_back(ConnectFailed{id, *std::move(failure)});
  }
  if (const std::string fallback = connection.TakeFallback(now); !fallback.empty()) {
    Reject(ConnectionId(), absl::UnavailableError(fallback), events);
  }
}

void Transport::Lose(ConnectionId id, OutboundConnection& connection, Timestamp now, std::vector<Event>& events) {
  ReceivedFrames received;
  while (connection.Receive(received, now) && Decode(id, std::move(received), now, events)) {
  }
  Drop(id, connection, now, events);
}

void Transport::Drop(ConnectionId id, OutboundConnection& connection, Timestamp now, std::vector<Event>& events) {
  const bool was_up = connection.up();
  connection.Reset(now);
  if (was_up) events.emplace_back(ConnectionDown{id});
}

void Transport::CollectRefused(std::vector<Event>& events) {
  if (security_ == nullptr) return;
  for (const std::string& who : security_->Serve(kInboundBatch)) {
    Reject(ConnectionId(), absl::PermissionDeniedError(absl::StrCat("not let in: ", who)), events);
  }
}

void Transport::CollectInbound(Timestamp now, std::vector<Event>& events) {
  inbound_->Watch();
  for (int i = 0; i < kInboundBatch; ++i) {
    std::optional<InboundConnections::Received> received = inbound_->Receive();
    if (!received) return EndInbound(now, events);
    if (received->accepted_from.has_value()) {
      events.emplace_back(ConnectionAccepted{received->connection, *received->accepted_from, received->public_key});
    }
    if (received->closed) continue;
    if (received->refused) {
      Reject(received->connection, absl::InvalidArgumentError("a peer must not choose its own routing id"), events);
    } else if (security_ != nullptr && IsAboutTickets(received->message.frames)) {
      AnswerAboutTickets(received->connection, received->message.frames, events);
    } else {
      Decode(received->connection, std::move(received->message), now, events);
    }
  }
}

void Transport::AnswerAboutTickets(ConnectionId connection, const std::vector<zmq::message_t>& frames,
                                   std::vector<Event>& events) {
  const absl::StatusOr<Aead> fastest = ReadTicketRequest(frames);
  const absl::string_view key = inbound_->KeyOf(connection);
  const ListedKey* const owner = security_->table().Find(key);
  if (!fastest.ok() || owner == nullptr || owner->role != Role::kNode) {
    Reject(connection,
           fastest.ok() ? absl::PermissionDeniedError("only a node gets a ticket to the data port") : fastest.status(),
           events);
    return;
  }
  if (data_port_ == nullptr) {
    auto port = DataPort::Listen(poller_, bound_address_, data_port_number_, limits_);
    if (port.ok()) {
      data_port_ = *std::move(port);
    } else {
      Reject(ConnectionId(),
             absl::Status(port.status().code(), absl::StrCat("no data port: ", port.status().message())), events);
    }
  }
  std::optional<DataTicket> ticket;
  if (data_port_ != nullptr) ticket = data_port_->Issue(connection, key, *fastest);
  std::vector<zmq::message_t> answer = TicketAnswer(ticket);
  inbound_->Send(connection, answer);
}

void Transport::CollectFromDataPort(Timestamp now, std::vector<Event>& events) {
  if (data_port_ == nullptr) return;
  data_port_->Watch();
  for (int i = 0; i < kInboundBatch; ++i) {
    std::optional<DataPort::Received> received = data_port_->Receive();
    if (!received.has_value()) {
      for (const ConnectionId lost : data_port_->TakeLost()) {
        Close(lost, "its connection to the data port is lost", now);
        events.emplace_back(ConnectionDown{lost});
      }
      break;
    }
    const ConnectionId connection = received->connection;
    if (connection == ConnectionId()) continue;
    if (received->status.ok()) {
      Decode(connection, std::move(received->message), now, events);
      continue;
    }
    Reject(connection, received->status, events);
    Close(connection, received->status.message(), now);
    events.emplace_back(ConnectionDown{connection});
  }
  for (int i = data_port_->TakeRefused() + data_port_->EndOverdue(now); i > 0; --i) {
    Reject(ConnectionId(), absl::PermissionDeniedError("refused: a connection to the data port without a ticket"),
           events);
  }
}

absl::string_view Transport::KeyOf(ConnectionId connection) const {
  const bool is_at_data_port = data_port_ != nullptr && data_port_->Has(connection);
  return is_at_data_port ? data_port_->KeyOf(connection) : inbound_->KeyOf(connection);
}

void Transport::EndInbound(Timestamp now, std::vector<Event>& events) {
  for (ConnectionId lost : inbound_->TakeLost()) {
    if (data_port_ != nullptr) data_port_->Leave(lost, now);
    // It ends with what still comes by the data port.
    if (data_port_ != nullptr && data_port_->Has(lost)) continue;
    counters_.Close(lost);
    events.emplace_back(ConnectionDown{lost});
  }
  for (int i = inbound_->TakeMalformed(); i > 0; --i) {
    Reject(ConnectionId(),
           absl::PermissionDeniedError("refused: it has no listed key, or does not speak ZeroMQ's protocol"), events);
  }
  for (int i = inbound_->EndOverdue(now); i > 0; --i) {
    Reject(ConnectionId(),
           absl::ResourceExhaustedError(
               "ended one of too many connections that say nothing, or one that sends without end"),
           events);
  }
  for (const std::string& what : inbound_->HoldBack(now)) {
    Reject(ConnectionId(), absl::ResourceExhaustedError(what), events);
  }
}

bool Transport::Decode(ConnectionId connection, ReceivedFrames received, Timestamp now, std::vector<Event>& events) {
  std::vector<zmq::message_t>& frames = received.frames;
  if (received.too_many || frames.empty()) {
    return Reject(connection,
                  absl::InvalidArgumentError(absl::StrCat("expected a header and at most ", limits_.max_payload_frames,
                                                          " payload frames, got ", frames.empty() ? "none" : "more")),
                  events);
  }
  const size_t size_bytes = SizeOf(frames);
  Payload payload;
  for (size_t i = 1; i < frames.size(); ++i) payload.push_back(BufferOf(std::move(frames[i])));
  absl::StatusOr<Message> message = DecodeMessage(BytesOf(frames[0]), payload);
  if (!message.ok()) return Reject(connection, message.status(), events);
  if (std::holds_alternative<GoAway>(*message)) {
    if (connection < kInboundConnection) {
      // Behind the end of the connection, which the caller tells of.
      pending_.emplace_back(ConnectFailed{
          connection, absl::StrCat("the other end refused the connection: ", std::get<GoAway>(*message).reason)});
      return false;
    }
    return Reject(connection, absl::InvalidArgumentError("the opener of a connection closes it without GoAway"),
                  events);
  }
  if (security_ != nullptr && connection >= kInboundConnection) {
    const absl::Status may = security_->table().Check(KeyOf(connection), *message);
    if (!may.ok()) {
      RefuseAccess(connection, *message, may, now, events);
      return true;
    }
  }
  counters_.CountReceived(connection, size_bytes);
  events.emplace_back(MessageReceived{connection, *std::move(message), std::move(payload)});
  return true;
}

void Transport::RefuseAccess(ConnectionId connection, const Message& message, const absl::Status& why, Timestamp now,
                             std::vector<Event>& events) {
  Reject(connection, why, events);
  const bool is_order = std::holds_alternative<Reconfigure>(message) || std::holds_alternative<RemoveNode>(message) ||
                        std::holds_alternative<StopJob>(message) || std::holds_alternative<VetoLowBit>(message);
  if (is_order) Send({connection, OperatorReply{false, std::string(why.message())}, {}}, now);
  Close(connection, why.message(), now);
  pending_.emplace_back(ConnectionDown{connection});
}

bool Transport::Reject(ConnectionId connection, absl::Status reason, std::vector<Event>& events) {
  counters_.CountRejected();
  events.emplace_back(MessageRejected{connection, std::move(reason)});
  return true;
}

}  // namespace banyan
