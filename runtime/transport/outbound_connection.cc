#include "runtime/transport/outbound_connection.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "posix/process_limits.h"
#include "posix/unix_socket.h"

namespace banyan {
namespace {

constexpr int kLosses = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr int kWatched = kLosses | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
// A new connection gets a new socket: the old one has gone long before it would connect again. Told never to, ZeroMQ
// would throw away what had arrived on the lost connection and was not read yet.
constexpr int kReconnectMs = 3'600'000;
// How soon a lookup is asked for its answer again.
constexpr absl::Duration kLookAgain = absl::Milliseconds(10);

std::string NoDescriptor() { return absl::StrCat("no descriptor is left for the connection; ", DescriptorAdvice()); }

}  // namespace

SocketIdentity::SocketIdentity(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  fd_ = fd;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

int SocketIdentity::Descriptor() const {
  struct stat info = {};
  const bool is_same =
      fd_ >= 0 && fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_ && S_ISSOCK(info.st_mode);
  return is_same ? fd_ : -1;
}

OutboundConnection::OutboundConnection(const Surroundings& surroundings, Destination destination,
                                       const SocketLimits& limits, Timestamp now)
    : poller_(*surroundings.poller),
      dialler_(*surroundings.dialler),
      security_(surroundings.security),
      id_(destination.connection),
      address_(std::move(destination.address)),
      peer_(std::move(destination.peer)),
      carries_chunks_(destination.carries_chunks),
      limits_(limits),
      pause_(limits.shortest_pause) {
  Open(now);
}

void OutboundConnection::Open(Timestamp now) {
  if (const std::optional<TcpEndpoint> endpoint = NumericEndpoint(address_); endpoint.has_value()) {
    endpoints_ = {*endpoint};
    return OpenSocket(now);
  }
  is_looking_up_ = true;
  dialler_.LookUp(address_, now);
  LookForEndpoints(now);
}

void OutboundConnection::LookForEndpoints(Timestamp now) {
  retry_at_ = now + kLookAgain;
  std::optional<Dialler::Endpoints> found = dialler_.Found(address_);
  if (!found.has_value()) return;
  is_looking_up_ = false;
  if (found->ok()) {
    endpoints_ = **std::move(found);
    return OpenSocket(now);
  }
  failure_ = std::string(found->status().message());
  retry_at_ = now + Dialler::kFresh;
}

void OutboundConnection::OpenSocket(Timestamp now) {
  opened_at_ = now;
  retry_at_ = now + std::min(limits_.silence_told, limits_.connect_timeout);
  const TcpEndpoint& endpoint = endpoints_[attempts_ % endpoints_.size()];
  try {
    zmq::socket_t& socket = socket_.emplace(poller_, zmq::socket_type::dealer, id_).socket();
    ApplyLimits(limits_, socket);
    socket.set(zmq::sockopt::ipv6, endpoint.is_ipv6);
    socket.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    if (!Secure(socket)) {
      Drop();
      retry_at_ = now + limits_.longest_pause;
      return;
    }
    monitor_.emplace(poller_, socket, kWatched, id_);
    // With keys this connection is CURVE's.
    by_unix_socket_ = security_ == nullptr && HasUnixSocket(endpoint) && !lacks_unix_socket_;
    socket.connect(by_unix_socket_ ? *endpoint.UnixAddress() : endpoint.Address());
  } catch (const zmq::error_t& error) {
    // More connections than this process can have: others decided that. It stays down, and the core says who cannot be
    // reached.
    failure_ = HasDescriptorLeft() ? error.what() : NoDescriptor();
    Drop();
    retry_at_ = now + limits_.longest_pause;
  }
}

bool OutboundConnection::Secure(zmq::socket_t& socket) {
  if (security_ == nullptr) return true;
  const std::vector<std::string> keys = security_->KeysOf(peer_);
  if (keys.empty()) {
    failure_ = peer_.empty() ? "no public key of the scheduler is known; give it in --key's file, or by --scheduler-key"
                             : absl::StrCat("the scheduler has not sent the key of ", peer_, " yet");
    return false;
  }
  // While a key is changed the other end has one of two.
  peer_key_ = keys[(attempts_ / endpoints_.size()) % keys.size()];
  if (security_->MakeClient(socket, peer_key_)) return true;
  ++attempts_;
  failure_ = absl::StrCat("its public key is not a valid key: ", peer_key_);
  return false;
}

bool OutboundConnection::IsTrusted() const {
  if (security_ == nullptr || !socket_) return true;
  const std::vector<std::string> keys = security_->KeysOf(peer_);
  return std::find(keys.begin(), keys.end(), peer_key_) != keys.end();
}

std::string OutboundConnection::RefusalIn(const SocketMonitor::Happening& happening) const {
  if (happening.event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    return "it does not list the key of this process; add its public_key to the overlay";
  }
  if (happening.event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
      happening.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
    return security_ == nullptr
               ? "it asks for a key, and this process has none; give it one, by --key, key= or BANYAN_KEY"
               : "it has no keys (does it run with --insecure?), and this process requires them";
  }
  if (security_ == nullptr || !is_reached_) return "";
  return absl::StrCat("it ends the handshake: it has no keys, or another one than ", peer_key_,
                      ", or is no Banyan process");
}

void OutboundConnection::NoteFailure(Timestamp now) {
  if (!socket_ || up_) return;
  lacks_unix_socket_ = by_unix_socket_;
  if (by_unix_socket_) return;
  const TcpEndpoint& endpoint = endpoints_[attempts_++ % endpoints_.size()];
  if (!refusal_.empty()) {
    failure_ = FailureAt(endpoint, std::exchange(refusal_, std::string()));
    in_doubt_.reset();
    return;
  }
  if (now - opened_at_ < limits_.connect_timeout) {
    dialler_.Diagnose(endpoint, now);
    in_doubt_ = endpoint;
  } else {
    NoteSilence(endpoint);
  }
}

void OutboundConnection::NoteSilence(const TcpEndpoint& endpoint) {
  const bool is_taken = connected_.Descriptor() >= 0;
  if (!is_taken && !HasDescriptorLeft()) {
    failure_ = NoDescriptor();
    return;
  }
  // The same words each time: what is told again is not logged again.
  failure_ = FailureAt(
      endpoint,
      absl::StrCat(is_taken ? "it takes the connection, and is silent for more than " : "no answer for more than ",
                   absl::FormatDuration(std::min(limits_.silence_told, limits_.connect_timeout))));
}

std::string OutboundConnection::FailureAt(const TcpEndpoint& endpoint, const std::string& reason) const {
  const std::string address = endpoint.Address();
  return address == address_ ? reason : absl::StrCat(address, ": ", reason);
}

std::optional<std::string> OutboundConnection::TakeFailure() {
  if (in_doubt_.has_value()) {
    const std::optional<std::string> reason = dialler_.Diagnosis(*in_doubt_);
    if (!reason.has_value()) return std::nullopt;
    failure_ = FailureAt(
        *in_doubt_,
        reason->empty() ? "another program listens there, or it asks for a key (--key, key= or BANYAN_KEY)" : *reason);
    in_doubt_.reset();
  }
  if (up_ || failure_.empty()) return std::nullopt;
  return std::exchange(failure_, std::string());
}

void OutboundConnection::Drop() {
  up_ = false;
  has_asked_for_ticket_ = false;
  is_seal_broken_ = false;
  DropSealed();
  refusal_.clear();
  is_reached_ = false;
  connected_ = SocketIdentity();
  renewal_.Forget();
  monitor_.reset();
  // What waits on a lost connection must not delay the end of the process.
  if (socket_) socket_->socket().set(zmq::sockopt::linger, 0);
  socket_.reset();
}

OutboundConnection::Change OutboundConnection::Watch() {
  if (!WatchSealed()) return Change::kLost;
  Change change = Change::kNone;
  while (monitor_) {
    const std::optional<SocketMonitor::Happening> happening = monitor_->Next();
    if (!happening) break;
    if ((happening->event & kLosses) != 0) {
      if (!up_) refusal_ = RefusalIn(*happening);
      // What came before the loss is there, whether or not its signal has been seen.
      socket_->OnReadable();
      return Change::kLost;
    }
    if (happening->event == ZMQ_EVENT_CONNECTED) {
      if (by_unix_socket_ && IsOfOtherUser(happening->value)) return Change::kLost;
      is_reached_ = true;
      connected_ = SocketIdentity(happening->value);
      if (!by_unix_socket_) renewal_.Watch(happening->value, opened_at_);
      ApplyPace();
      continue;
    }
    up_ = true;
    failure_.clear();
    in_doubt_.reset();
    retry_at_ = kNever;
    change = Change::kUp;
  }
  return change;
}

void OutboundConnection::SetPace(double rate_bps) {
  pace_bps_ = rate_bps;
  ApplyPace();
}

bool OutboundConnection::Moves() const {
  // Longer than between two packets of a link that is worth using.
  constexpr uint32_t kMomentMs = 300;
  tcp_info info = {};
  socklen_t size = sizeof(info);
  const int fd = connected_.Descriptor();
  if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return info.tcpi_last_ack_recv < kMomentMs;
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
  NoteFailure(now);
  if (by_unix_socket_ && !up_) {
    // Nothing is known yet of how the other end is reached by TCP.
    Drop();
    retry_at_ = now;
    return;
  }
  if (now - opened_at_ > limits_.longest_pause) pause_ = limits_.shortest_pause;
  Drop();
  retry_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, limits_.longest_pause);
}

void OutboundConnection::Retry(Timestamp now) {
  if (is_looking_up_) return LookForEndpoints(now);
  if (socket_ && !up_ && !by_unix_socket_ && now - opened_at_ < limits_.connect_timeout) {
    NoteSilence(endpoints_[attempts_ % endpoints_.size()]);
    retry_at_ = opened_at_ + limits_.connect_timeout;
    return;
  }
  NoteFailure(now);
  Drop();
  Open(now);
}

SendResult OutboundConnection::Send(std::vector<zmq::message_t>& frames, Timestamp now) {
  renewal_.OnSend(now, pace_bps_);
  if (uses_data_port()) {
    // A new connection has new keys.
    if (sealed_->sealer.is_used_up()) return SendResult::kFull;
    sealed_->sealer.Seal(frames);
    return sealed_->socket.Send(frames);
  }
  const SendResult sent = socket_->Send(frames);
  const bool wants_data_port = carries_chunks_ && security_ != nullptr;
  // Behind the first message, by which the other end knows the connection before anything comes by the port.
  if (sent == SendResult::kSent && wants_data_port && !std::exchange(has_asked_for_ticket_, true)) {
    std::vector<zmq::message_t> request = TicketRequest(FastestAead());
    socket_->Send(request);
  }
  return sent;
}

bool OutboundConnection::Receive(ReceivedFrames& received, Timestamp now) {
  const size_t most_frames = 1 + limits_.max_payload_frames;
  while (sealed_ != nullptr && sealed_->socket.Receive(most_frames, received)) {
    if (TakeSealed(received)) return true;
  }
  while (socket_ && socket_->Receive(most_frames, received)) {
    if (!has_asked_for_ticket_ || !IsAboutTickets(received.frames)) return true;
    const absl::StatusOr<std::optional<DataTicket>> ticket = ReadTicketAnswer(received.frames);
    // The caller rejects what makes no sense.
    if (!ticket.ok()) return true;
    if (ticket->has_value()) OpenSealed(**ticket, now);
  }
  return false;
}

// ---- the way by the data port ----

OutboundConnection::SealedConnection::SealedConnection(SocketPoller& poller, ConnectionId connection,
                                                       const SocketLimits& limits, const TcpEndpoint& to, bool by_unix,
                                                       const DataTicket& with, Timestamp now)
    : endpoint(to),
      by_unix_socket(by_unix),
      ticket(with),
      opened_at(now),
      sealer(ticket.aead, ticket.to_acceptor),
      opener(ticket.aead, ticket.to_opener),
      socket(poller, zmq::socket_type::dealer, connection),
      monitor(poller, socket.socket(), kWatched, connection) {
  SocketLimits wider = limits;
  wider.max_frame_bytes += kAeadTagBytes;
  ApplyLimits(wider, socket.socket());
  ConnectionSecurity::MakeForDataPort(socket.socket());
  socket.socket().set(zmq::sockopt::ipv6, endpoint.is_ipv6);
  socket.socket().set(zmq::sockopt::reconnect_ivl, kReconnectMs);
  socket.socket().connect(by_unix_socket ? *endpoint.UnixAddress() : endpoint.Address());
}

void OutboundConnection::OpenSealed(const DataTicket& ticket, Timestamp now, bool may_use_unix_socket) {
  if (sealed_ != nullptr) return;
  TcpEndpoint endpoint = endpoints_[attempts_ % endpoints_.size()];
  endpoint.port = absl::StrCat(ticket.port);
  try {
    const bool by_unix_socket = may_use_unix_socket && HasUnixSocket(endpoint);
    sealed_ = std::make_unique<SealedConnection>(poller_, id_, limits_, endpoint, by_unix_socket, ticket, now);
  } catch (const zmq::error_t& error) {
    fallback_ = HasDescriptorLeft() ? error.what() : NoDescriptor();
  }
}

bool OutboundConnection::WatchSealed() {
  if (is_seal_broken_) return false;
  while (sealed_ != nullptr) {
    const std::optional<SocketMonitor::Happening> happening = sealed_->monitor.Next();
    if (!happening) break;
    const bool is_connected = happening->event == ZMQ_EVENT_CONNECTED;
    const bool is_strange = is_connected && sealed_->by_unix_socket && IsOfOtherUser(happening->value);
    if ((happening->event & kLosses) != 0 || is_strange) {
      sealed_->socket.OnReadable();
      if (sealed_->is_up) return false;
      if (LeaveUnixSocket(sealed_->opened_at)) continue;
      fallback_ = "it cannot be reached";
    } else if (is_connected) {
      sealed_->connected = SocketIdentity(happening->value);
    } else {
      std::vector<zmq::message_t> hello = DataHello(sealed_->ticket.token, sealed_->sealer);
      sealed_->socket.Send(hello);
    }
    if (!fallback_.empty()) return true;
  }
  return true;
}

bool OutboundConnection::LeaveUnixSocket(Timestamp now) {
  if (sealed_ == nullptr || !sealed_->by_unix_socket || sealed_->is_up) return false;
  const DataTicket ticket = sealed_->ticket;
  DropSealed();
  OpenSealed(ticket, now, /*may_use_unix_socket=*/false);
  return true;
}

bool OutboundConnection::TakeSealed(ReceivedFrames& received) {
  if (sealed_->is_up) {
    is_seal_broken_ = received.too_many || !sealed_->opener.Open(received.frames).ok();
    return !is_seal_broken_;
  }
  if (!ReadDataWelcome(received.frames, sealed_->opener).ok()) {
    if (LeaveUnixSocket(sealed_->opened_at)) return false;
    fallback_ = "another program listens there";
    return false;
  }
  sealed_->is_up = true;
  // What is sent from now on goes there: its pace and its congestion are that connection's.
  connected_ = sealed_->connected;
  const int fd = connected_.Descriptor();
  if (fd >= 0 && !sealed_->by_unix_socket) renewal_.Watch(fd, sealed_->opened_at);
  ApplyPace();
  return false;
}

void OutboundConnection::DropSealed() {
  if (sealed_ != nullptr) sealed_->socket.socket().set(zmq::sockopt::linger, 0);
  sealed_.reset();
}

std::string OutboundConnection::TakeFallback(Timestamp now) {
  if (sealed_ != nullptr && !sealed_->is_up && fallback_.empty() &&
      now - sealed_->opened_at > limits_.connect_timeout && !LeaveUnixSocket(now)) {
    fallback_ = absl::StrCat("no answer for more than ", absl::FormatDuration(limits_.connect_timeout));
  }
  if (fallback_.empty()) return "";
  std::string told = absl::StrCat(
      sealed_ == nullptr ? "the data port of " : absl::StrCat(sealed_->endpoint.Address(), ", the data port of "),
      peer_.empty() ? address_ : peer_, ": ", std::exchange(fallback_, std::string()),
      "; chunks go encrypted by ZeroMQ instead, which takes some times as long. Let that port through, or choose it by "
      "--data-port");
  DropSealed();
  return told;
}

}  // namespace banyan
