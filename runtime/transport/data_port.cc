#include "runtime/transport/data_port.h"

#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// Of requests and answers.
constexpr uint8_t kTicketVersion = 1;
constexpr size_t kRequestBytes = 2;
constexpr size_t kRefusalBytes = 1;
constexpr size_t kTicketBytes = 2 + sizeof(uint16_t) + DataTicket::kTokenBytes + 2 * kAeadKeyBytes;

template <size_t kBytes>
void Fill(std::array<uint8_t, kBytes>& secret) {
  BANYAN_CHECK(RAND_bytes(secret.data(), kBytes) == 1);
}

bool IsAead(uint8_t number) {
  return number == static_cast<uint8_t>(Aead::kAes256Gcm) || number == static_cast<uint8_t>(Aead::kChaCha20Poly1305);
}

std::vector<zmq::message_t> AboutTickets(absl::string_view body) {
  std::vector<zmq::message_t> frames;
  frames.emplace_back();
  frames.emplace_back(body.data(), body.size());
  return frames;
}

// Returns what stands behind the empty frame; empty when it is of another version, or none.
absl::string_view BodyOf(const std::vector<zmq::message_t>& frames) {
  if (frames.size() != 2 || !IsAboutTickets(frames)) return "";
  const absl::string_view body = BytesOf(frames[1]);
  return body.empty() || static_cast<uint8_t>(body[0]) != kTicketVersion ? "" : body;
}

}  // namespace

// ---- messages ----

bool IsAboutTickets(const std::vector<zmq::message_t>& frames) { return !frames.empty() && frames[0].size() == 0; }

std::vector<zmq::message_t> TicketRequest(Aead fastest) {
  const std::array<char, kRequestBytes> body = {kTicketVersion, static_cast<char>(fastest)};
  return AboutTickets({body.data(), body.size()});
}

absl::StatusOr<Aead> ReadTicketRequest(const std::vector<zmq::message_t>& frames) {
  const absl::string_view body = BodyOf(frames);
  if (body.size() == kRequestBytes && IsAead(static_cast<uint8_t>(body[1]))) return static_cast<Aead>(body[1]);
  return absl::InvalidArgumentError("expected a header, or a request for a ticket to the data port");
}

std::vector<zmq::message_t> TicketAnswer(const std::optional<DataTicket>& ticket) {
  std::string body(1, static_cast<char>(kTicketVersion));
  if (ticket.has_value()) {
    body.push_back(static_cast<char>(ticket->aead));
    body.push_back(static_cast<char>(ticket->port >> 8));
    body.push_back(static_cast<char>(ticket->port & 0xff));
    body.append(ticket->token.begin(), ticket->token.end());
    body.append(ticket->to_acceptor.begin(), ticket->to_acceptor.end());
    body.append(ticket->to_opener.begin(), ticket->to_opener.end());
  }
  return AboutTickets(body);
}

absl::StatusOr<std::optional<DataTicket>> ReadTicketAnswer(const std::vector<zmq::message_t>& frames) {
  const absl::string_view body = BodyOf(frames);
  if (body.size() == kRefusalBytes) return std::optional<DataTicket>();
  if (body.size() != kTicketBytes || !IsAead(static_cast<uint8_t>(body[1]))) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a ticket of ", kTicketBytes, " bytes to the data port, got ", body.size()));
  }
  const auto* at = reinterpret_cast<const uint8_t*>(body.data()) + 1;
  DataTicket ticket;
  ticket.aead = static_cast<Aead>(*at++);
  ticket.port = static_cast<uint16_t>(at[0] << 8 | at[1]);
  at += sizeof(ticket.port);
  const auto take = [&at](auto& into) {
    std::copy_n(at, into.size(), into.begin());
    at += into.size();
  };
  take(ticket.token);
  take(ticket.to_acceptor);
  take(ticket.to_opener);
  return ticket;
}

std::vector<zmq::message_t> DataHello(const DataTicket::Token& token, FrameSealer& sealer) {
  std::vector<zmq::message_t> proof(1);
  sealer.Seal(proof);
  std::vector<zmq::message_t> hello;
  hello.emplace_back(token.data(), token.size());
  hello.push_back(std::move(proof[0]));
  return hello;
}

absl::Status ReadDataWelcome(std::vector<zmq::message_t>& frames, FrameOpener& opener) {
  if (frames.size() == 1 && opener.Open(frames).ok() && frames[0].size() == 0) return absl::OkStatus();
  return absl::DataLossError("the data port's welcome is not of the node that issued the ticket");
}

// ---- the port ----

absl::StatusOr<std::unique_ptr<DataPort>> DataPort::Listen(SocketPoller& poller, const std::string& address,
                                                           uint16_t port, const SocketLimits& limits) {
  SocketLimits wider = limits;
  wider.max_frame_bytes += kAeadTagBytes;
  const std::string host = address.substr(0, address.rfind(':'));
  auto inbound = InboundConnections::Bind(poller, absl::StrCat(host, ":", port), wider,
                                          InboundConnections::Use::kDataPort, nullptr);
  if (!inbound.ok()) return inbound.status();
  return std::make_unique<DataPort>(*std::move(inbound));
}

DataPort::DataPort(std::unique_ptr<InboundConnections> inbound) : inbound_(std::move(inbound)) {
  const std::string& address = inbound_->bound_address();
  uint32_t port = 0;
  BANYAN_CHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port) && port <= UINT16_MAX);
  port_ = static_cast<uint16_t>(port);
}

DataTicket DataPort::Issue(ConnectionId connection, absl::string_view public_key, Aead fastest) {
  if (const auto former = tickets_.find(connection); former != tickets_.end()) {
    by_token_.erase(former->second.ticket.token);
  }
  DataTicket ticket;
  ticket.aead = AeadFor(fastest, FastestAead());
  ticket.port = port_;
  Fill(ticket.token);
  Fill(ticket.to_acceptor);
  Fill(ticket.to_opener);
  tickets_.insert_or_assign(connection, Ticket{ticket, std::string(public_key)});
  by_token_.emplace(ticket.token, connection);
  return ticket;
}

bool DataPort::Admit(ConnectionId inner, std::vector<zmq::message_t>& frames) {
  if (frames.size() != 2 || frames[0].size() != DataTicket::kTokenBytes) return false;
  DataTicket::Token token;
  std::memcpy(token.data(), frames[0].data(), token.size());
  const auto known = by_token_.find(token);
  // One that has come in already may have asked for another ticket.
  if (known == by_token_.end() || sealed_.contains(known->second)) return false;
  const ConnectionId connection = known->second;
  const auto found = tickets_.find(connection);
  const DataTicket& ticket = found->second.ticket;
  FrameOpener opener(ticket.aead, ticket.to_acceptor);
  frames.erase(frames.begin());
  if (!opener.Open(frames).ok() || frames[0].size() != 0) return false;
  FrameSealer sealer(ticket.aead, ticket.to_opener);
  std::vector<zmq::message_t> welcome(1);
  sealer.Seal(welcome);
  if (inbound_->Send(inner, welcome) != SendResult::kSent) return false;
  by_inner_[inner] = connection;
  sealed_.emplace(connection, Sealed{inner, found->second.public_key, std::move(sealer), std::move(opener)});
  by_token_.erase(known);
  tickets_.erase(found);
  return true;
}

std::optional<DataPort::Received> DataPort::Receive() {
  std::optional<InboundConnections::Received> received = inbound_->Receive();
  if (!received.has_value()) return std::nullopt;
  const ConnectionId inner = received->connection;
  const auto known = by_inner_.find(inner);
  if (known == by_inner_.end()) {
    if (received->closed) return Received{};
    const bool is_let_in = !received->refused && !received->message.too_many && Admit(inner, received->message.frames);
    if (!is_let_in) {
      ++refused_;
      inbound_->Drop(inner);
    }
    return Received{};
  }
  Sealed& of = sealed_.at(known->second);
  if (of.is_closed) return Received{};
  Received opened{known->second, absl::OkStatus(), std::move(received->message)};
  if (!opened.message.too_many) opened.status = of.opener.Open(opened.message.frames);
  return opened;
}

std::vector<ConnectionId> DataPort::TakeLost() {
  std::vector<ConnectionId> lost;
  for (const ConnectionId inner : inbound_->TakeLost()) {
    const auto known = by_inner_.find(inner);
    if (known == by_inner_.end()) continue;
    if (Has(known->second)) lost.push_back(known->second);
    sealed_.erase(known->second);
    by_inner_.erase(known);
  }
  return lost;
}

std::vector<ConnectionId> DataPort::Unlisted(const AccessTable& table) const {
  std::vector<ConnectionId> unlisted;
  for (const auto& [connection, sealed] : sealed_) {
    if (!sealed.is_closed && table.Find(sealed.public_key) == nullptr) unlisted.push_back(connection);
  }
  return unlisted;
}

SendResult DataPort::Send(ConnectionId connection, std::vector<zmq::message_t>& frames) {
  Sealed& sealed = sealed_.at(connection);
  // A new connection has new keys.
  if (sealed.sealer.is_used_up()) return SendResult::kFull;
  sealed.sealer.Seal(frames);
  return inbound_->Send(sealed.inner, frames);
}

void DataPort::Leave(ConnectionId connection, Timestamp now) {
  if (const auto ticket = tickets_.find(connection); ticket != tickets_.end()) {
    by_token_.erase(ticket->second.ticket.token);
    tickets_.erase(ticket);
  }
  if (Has(connection)) inbound_->Leave(sealed_.at(connection).inner, now);
}

void DataPort::Close(ConnectionId connection, Timestamp now) {
  Leave(connection, now);
  if (Has(connection)) sealed_.at(connection).is_closed = true;
}

}  // namespace banyan
