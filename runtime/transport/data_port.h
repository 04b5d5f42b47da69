// The second way into a node whose job has keys: chunks cross it in frames that Banyan seals itself (sealed_frames.h),
// some times as fast as ZeroMQ's CURVE encrypts. Nobody comes in here on his own:
//
//   opener                                acceptor
//     |  CURVE connection, as everywhere     |   both have proven their keys
//     |  ticket request ------------------>  |
//     |  <---------------------------------- |   ticket: port, token, a fresh key for each direction
//     |  a TCP connection to that port       |
//     |  token, sealed frame 0 ----------->  |   only who has read the ticket can make both
//     |  <-------------------- sealed frame 0|
//     |  chunks, sealed ------------------>  |
//
// The CURVE connection stays, and both are one connection to the core: it ends when either ends. A ticket is for one
// connection, and ends with the one that it was asked for on. Where no ticket comes, or the port cannot be reached,
// everything stays on the CURVE connection.
//
// DataPort is the acceptor's side. Thread-compatible; owned by Transport.
//
// Invariants:
// - What comes before a token that is known and a frame that opens is compared with tokens, and read by nothing else;
//   then the TCP connection ends.
// - The other end of a connection here is the one whose key was proven on the CURVE connection. There is one at most
//   beside each of these.
#ifndef BANYAN_RUNTIME_TRANSPORT_DATA_PORT_H_
#define BANYAN_RUNTIME_TRANSPORT_DATA_PORT_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "access/access_table.h"
#include "core/ids.h"
#include "core/time.h"
#include "runtime/transport/inbound_connections.h"
#include "runtime/transport/sealed_frames.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_limits.h"
#include "runtime/transport/socket_poller.h"
#include "zmq.hpp"

namespace banyan {

// What an opener needs for one connection to a data port.
struct DataTicket {
  static constexpr size_t kTokenBytes = 16;
  using Token = std::array<uint8_t, kTokenBytes>;

  Aead aead = Aead::kAes256Gcm;
  uint16_t port = 0;  // of the host that the CURVE connection leads to
  Token token = {};
  AeadKey to_acceptor = {};
  AeadKey to_opener = {};
  friend bool operator==(const DataTicket&, const DataTicket&) = default;
};

// A message whose first frame is empty is none of a core: it asks for a ticket, or answers that.
bool IsAboutTickets(const std::vector<zmq::message_t>& frames);
// Returns what asks for a ticket, and says which AEAD is the faster one here.
std::vector<zmq::message_t> TicketRequest(Aead fastest);
// Returns which AEAD is the faster one for who asks. INVALID_ARGUMENT for what asks for nothing.
absl::StatusOr<Aead> ReadTicketRequest(const std::vector<zmq::message_t>& frames);
// Returns the answer to a request; without a ticket a refusal.
std::vector<zmq::message_t> TicketAnswer(const std::optional<DataTicket>& ticket);
// Returns the ticket in an answer; none where it is refused. INVALID_ARGUMENT for what is no answer.
absl::StatusOr<std::optional<DataTicket>> ReadTicketAnswer(const std::vector<zmq::message_t>& frames);
// Returns the first message on a data connection: the token in clear, and a sealed frame without bytes.
std::vector<zmq::message_t> DataHello(const DataTicket::Token& token, FrameSealer& sealer);
// Takes the frame with which an acceptor welcomes. DATA_LOSS when it is not one.
absl::Status ReadDataWelcome(std::vector<zmq::message_t>& frames, FrameOpener& opener);

class DataPort {
 public:
  // Listens at the host of `address`, tcp://host:port, on `port`; 0 for a free one. `poller` outlives this.
  static absl::StatusOr<std::unique_ptr<DataPort>> Listen(SocketPoller& poller, const std::string& address,
                                                          uint16_t port, const SocketLimits& limits);
  explicit DataPort(std::unique_ptr<InboundConnections> inbound);

  uint16_t port() const { return port_; }
  // Makes a ticket for the opener of `connection`, which came in with `public_key` and has `fastest`. Its former ones
  // are good for nothing from now on.
  DataTicket Issue(ConnectionId connection, absl::string_view public_key, Aead fastest);

  struct Received {
    // For whom the message counts; the id 0 when there is none to hand on.
    ConnectionId connection;
    absl::Status status;  // not OK: what came does not open, and the connection is to be closed
    ReceivedFrames message;
  };
  // As InboundConnections has these, for connections that tickets were issued for.
  std::optional<Received> Receive();
  void Watch() { inbound_->Watch(); }
  std::vector<ConnectionId> TakeLost();
  Timestamp next_deadline() const { return inbound_->next_deadline(); }
  int EndOverdue(Timestamp now) { return inbound_->EndOverdue(now); }
  // Returns how many were not let in since the last call: without a ticket, or with bytes that are not ZeroMQ's.
  int TakeRefused() { return std::exchange(refused_, 0) + inbound_->TakeMalformed(); }

  // Returns whether what is sent to the opener of the connection goes this way.
  bool Has(ConnectionId connection) const {
    const auto sealed = sealed_.find(connection);
    return sealed != sealed_.end() && !sealed->second.is_closed;
  }
  // Returns the key with which the opener of the connection has come in. REQUIRES: Has(connection).
  absl::string_view KeyOf(ConnectionId connection) const { return sealed_.at(connection).public_key; }
  // REQUIRES: Has(connection).
  SendResult Send(ConnectionId connection, std::vector<zmq::message_t>& frames);
  // Returns the connections whose key `table` does not list.
  std::vector<ConnectionId> Unlisted(const AccessTable& table) const;
  // The CURVE connection is gone: its ticket is good for nothing. What is still on its way here is received, until the
  // opener has gone or the limits' linger is over.
  void Leave(ConnectionId connection, Timestamp now);
  // The same, and nothing is received any more.
  void Close(ConnectionId connection, Timestamp now);

 private:
  struct Ticket {
    DataTicket ticket;
    std::string public_key;
  };
  struct Sealed {
    ConnectionId inner;  // as inbound_ calls it
    std::string public_key;
    FrameSealer sealer;
    FrameOpener opener;
    bool is_closed = false;
  };

  // Takes the first message of a TCP connection. Returns whether it lets it in.
  bool Admit(ConnectionId inner, std::vector<zmq::message_t>& frames);

  std::unique_ptr<InboundConnections> inbound_;
  uint16_t port_ = 0;
  std::map<ConnectionId, Ticket> tickets_;              // not used yet
  std::map<DataTicket::Token, ConnectionId> by_token_;  // of tickets_
  std::map<ConnectionId, Sealed> sealed_;
  std::map<ConnectionId, ConnectionId> by_inner_;  // of sealed_
  int refused_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_DATA_PORT_H_
