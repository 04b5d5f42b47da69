// A connection that this process opens and keeps: a DEALER socket of its own, watched by a monitor. After a loss the
// socket is thrown away, so that nothing queued for the old connection leaks into the new one. A fresh one is made
// after a growing, bounded pause. A host name is looked up before each attempt, and each attempt takes the next of the
// addresses that it leads to. Chunks to a process of this machine go by its unix socket, if it has one
// (SocketLimits::uses_unix_sockets). Thread-compatible; used by the protocol thread only.
#ifndef BANYAN_RUNTIME_TRANSPORT_OUTBOUND_CONNECTION_H_
#define BANYAN_RUNTIME_TRANSPORT_OUTBOUND_CONNECTION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/time.h"
#include "runtime/transport/congestion_control.h"
#include "runtime/transport/connection_security.h"
#include "runtime/transport/data_port.h"
#include "runtime/transport/dialler.h"
#include "runtime/transport/polled_socket.h"
#include "runtime/transport/sealed_frames.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_limits.h"
#include "runtime/transport/socket_monitor.h"
#include "runtime/transport/socket_poller.h"
#include "runtime/transport/tcp_endpoint.h"
#include "zmq.hpp"

namespace banyan {

// Remembers which socket a descriptor named. Another part of the process owns the descriptor and may close it, and the
// kernel then gives its number to another socket. A value; thread-compatible.
//
// Invariants:
// - The number that Descriptor() returns named, at that moment, the socket that this was made for.
class SocketIdentity {
 public:
  // Names no socket.
  SocketIdentity() = default;
  // Names the socket behind `fd`; none when there is none.
  explicit SocketIdentity(int fd);

  // Returns the socket's descriptor; -1 when it is closed, or names something else by now.
  int Descriptor() const;

 private:
  int fd_ = -1;
  // The kernel gives each open socket a number of its own, and uses it again only after four billion others.
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

class OutboundConnection {
 public:
  enum class Change { kNone, kUp, kLost };

  // All outlive the connection. `security` is null where keys are not asked for.
  struct Surroundings {
    SocketPoller* poller = nullptr;
    Dialler* dialler = nullptr;
    const ConnectionSecurity* security = nullptr;
  };
  struct Destination {
    ConnectionId connection;
    std::string address;
    std::string peer;             // the node's name; empty for a scheduler
    bool carries_chunks = false;  // with keys it asks for a ticket, and sends by the data port once it can
  };

  // Starts to connect.
  OutboundConnection(const Surroundings& surroundings, Destination destination, const SocketLimits& limits,
                     Timestamp now);

  // Reads what the monitor has seen. With kUp the connection can carry messages; with kLost it can no more: Receive
  // gives what had still arrived, then call Reset.
  Change Watch();
  // Drops the socket. Retry makes a new one at `retry_at`.
  void Reset(Timestamp now);
  // When Retry wants to be called: for a new attempt, or because an attempt has taken too long.
  Timestamp retry_at() const { return retry_at_; }
  void Retry(Timestamp now);
  // Returns why attempts fail, where one has since the last call and the reason is known.
  std::optional<std::string> TakeFailure();

  // Of what is sent from now on, by this socket and its successors; infinite for none.
  void SetPace(double rate_bps);

  // Returns whether the other end has taken bytes a moment ago, as far as the kernel knows.
  bool Moves() const;

  // Returns how often packets have overtaken each other on their way there since the last call.
  uint64_t TakeOvertakings() { return renewal_.TakeOvertakings(); }

  // Returns whether the key of the other end is still one that it may have. True without keys.
  bool IsTrusted() const;

  // Returns whether there is something to find out of it though none of its sockets may receive.
  bool wants_look() const {
    const bool has_failed = in_doubt_.has_value() || (!up_ && !failure_.empty());
    const bool is_in_question = is_seal_broken_ || !fallback_.empty() || (sealed_ != nullptr && !sealed_->is_up);
    return has_failed || is_in_question;
  }

  bool up() const { return up_; }
  // REQUIRES: up().
  SendResult Send(std::vector<zmq::message_t>& frames, Timestamp now);
  bool Receive(ReceivedFrames& received, Timestamp now);

  // Returns whether what is sent goes to the other end's data port.
  bool uses_data_port() const { return sealed_ != nullptr && sealed_->is_up; }
  // Returns whether it goes by a unix socket.
  bool uses_unix_socket() const { return uses_data_port() ? sealed_->by_unix_socket : up_ && by_unix_socket_; }
  // Returns why it does not, where that was wanted and has failed since the last call.
  std::string TakeFallback(Timestamp now);

 private:
  // The connection to a data port, beside the one that the ticket came on.
  struct SealedConnection {
    // Starts to connect. Throws zmq::error_t when the process has no socket left.
    SealedConnection(SocketPoller& poller, ConnectionId connection, const SocketLimits& limits,
                     const TcpEndpoint& endpoint, bool by_unix_socket, const DataTicket& ticket, Timestamp now);

    const TcpEndpoint endpoint;
    const bool by_unix_socket;
    const DataTicket ticket;
    const Timestamp opened_at;
    FrameSealer sealer;
    FrameOpener opener;
    PolledSocket socket;
    SocketMonitor monitor;  // destroyed before the socket
    SocketIdentity connected;
    bool is_up = false;  // the other end has welcomed
  };

  void OpenSealed(const DataTicket& ticket, Timestamp now, bool may_use_unix_socket = true);
  // Reads what its monitor has seen. Returns false when a connection is lost that was up.
  bool WatchSealed();
  // Has it go by TCP from now on. Returns false where it does already, or is up.
  bool LeaveUnixSocket(Timestamp now);
  // Takes a message that came by it. Returns whether it is one for the core.
  bool TakeSealed(ReceivedFrames& received);
  // From now on everything goes the other way.
  void DropSealed();
  void Open(Timestamp now);
  // Goes on with an attempt when the host has been looked up.
  void LookForEndpoints(Timestamp now);
  void OpenSocket(Timestamp now);
  // Takes the next address from now on, and has it found out what is wrong with this one.
  void NoteFailure(Timestamp now);
  // Notes that nothing has come from `endpoint` so far.
  void NoteSilence(const TcpEndpoint& endpoint);
  // Returns `reason`, with the address that a name has led to.
  std::string FailureAt(const TcpEndpoint& endpoint, const std::string& reason) const;
  void Drop();
  void ApplyPace() const;
  // Returns whether there may be a unix socket for chunks beside `endpoint`.
  bool HasUnixSocket(const TcpEndpoint& endpoint) const {
    return limits_.uses_unix_sockets && carries_chunks_ && endpoint.UnixAddress().has_value();
  }

  // Returns whether there is a key with which the other end may be met, and prepares the socket for it.
  bool Secure(zmq::socket_t& socket);
  // Returns what the end of a handshake says of the other end; empty when it says nothing.
  std::string RefusalIn(const SocketMonitor::Happening& happening) const;

  SocketPoller& poller_;
  Dialler& dialler_;
  const ConnectionSecurity* const security_;
  const ConnectionId id_;
  const std::string address_;
  const std::string peer_;
  const bool carries_chunks_;
  const SocketLimits limits_;
  std::vector<TcpEndpoint> endpoints_;  // that it leads to
  size_t attempts_ = 0;                 // that have failed
  bool is_looking_up_ = false;
  std::optional<TcpEndpoint> in_doubt_;  // its diagnosis is to be told
  std::string refusal_;                  // of this attempt; empty for none
  std::string peer_key_;                 // that the other end must have
  std::string failure_;                  // to be told; empty for none
  std::optional<PolledSocket> socket_;
  std::optional<SocketMonitor> monitor_;  // destroyed before the socket
  bool by_unix_socket_ = false;           // this attempt
  bool lacks_unix_socket_ = false;        // the other end, as the last attempt has shown
  bool is_reached_ = false;               // by this attempt, handshake or not
  bool up_ = false;
  bool has_asked_for_ticket_ = false;         // this socket
  std::unique_ptr<SealedConnection> sealed_;  // null while everything goes by the socket above
  bool is_seal_broken_ = false;               // what came by it does not open
  std::string fallback_;                      // to be told; empty for none
  SocketIdentity connected_;                  // ZeroMQ owns its descriptor, and tells of its end later than that comes
  CongestionRenewal renewal_;
  double pace_bps_ = std::numeric_limits<double>::infinity();
  Timestamp opened_at_;
  Timestamp retry_at_ = kNever;
  absl::Duration pause_;
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_OUTBOUND_CONNECTION_H_
