// A process's sockets towards other daemons: carries out a core's Connect, Disconnect and Send, and turns what happens
// on sockets into events. Thread-compatible; used by the protocol thread only, but for the counters.
#ifndef BANYAN_RUNTIME_TRANSPORT_TRANSPORT_H_
#define BANYAN_RUNTIME_TRANSPORT_TRANSPORT_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/time.h"
#include "protocol/action.h"
#include "protocol/event.h"
#include "runtime/transport/connection_security.h"
#include "runtime/transport/data_port.h"
#include "runtime/transport/dialler.h"
#include "runtime/transport/inbound_connections.h"
#include "runtime/transport/outbound_connection.h"
#include "runtime/transport/security_options.h"
#include "runtime/transport/socket_limits.h"
#include "runtime/transport/socket_poller.h"
#include "runtime/transport/traffic.h"
#include "zmq.hpp"

namespace banyan {

class Transport {
 public:
  // What a connection takes that this process opens, and the one that its other end opens back: five for ZeroMQ's
  // sockets and their signals, one for each TCP connection. The same again where chunks go by a data port.
  static constexpr int64_t kDescriptorsPerConnection = 7;
  // The process itself, its log, its workers.
  static constexpr int64_t kOtherDescriptors = 32;
  static constexpr absl::Duration kLookAtDescriptorsEvery = absl::Seconds(1);

  // Listens on `address`, tcp://host:port, port 0 for a free one. A host name is looked up, which may block.
  // With `security` nobody comes in before Admit, and every connection is encrypted.
  static absl::StatusOr<std::unique_ptr<Transport>> Bind(const std::string& address, const SocketLimits& limits,
                                                         std::optional<SecurityOptions> security = std::nullopt);
  Transport(const SocketLimits& limits, std::optional<SecurityOptions> security);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  // Waits up to the limits' linger for what was sent.
  ~Transport();

  const std::string& bound_address() const { return bound_address_; }
  const TrafficCounters& counters() const { return counters_; }
  TrafficCounters& counters() { return counters_; }

  // REQUIRES: the id is below kInboundConnection and new.
  void Connect(const banyan::Connect& connect, Timestamp now);
  // Closes a connection of either direction. The opener of one that this process accepted is told to go away.
  void Disconnect(const banyan::Disconnect& disconnect, Timestamp now);
  void Renew(const banyan::Renew& renew, Timestamp now);
  // Lets in who owns these keys, and nobody else: other connections end. Nothing without keys of its own.
  void Admit(std::vector<ListedKey> keys, Timestamp now);
  // Nothing when the connection is gone.
  void SetPace(const Pace& pace);
  void Send(const banyan::Send& send, Timestamp now);
  // Returns whether chunks on a connection that this process has opened go to the other end's data port.
  bool UsesDataPort(ConnectionId connection) const {
    const auto outbound = outbound_.find(connection);
    return outbound != outbound_.end() && outbound->second->uses_data_port();
  }
  // Returns whether a connection that this process has opened goes by a unix socket.
  bool UsesUnixSocket(ConnectionId connection) const {
    const auto outbound = outbound_.find(connection);
    return outbound != outbound_.end() && outbound->second->uses_unix_socket();
  }
  // Returns the port at which this process takes chunks in sealed frames; 0 before the first node asks.
  uint16_t data_port() const { return data_port_ == nullptr ? 0 : data_port_->port(); }
  // False once a connection has been closed or lost for good.
  bool Exists(ConnectionId connection) const;

  // Has Wait end, and `readiness` say so, when `fd` can be read; until Unwatch, up to which both live. Throws
  // zmq::error_t when the system can watch no more.
  void Watch(int fd, SocketReadiness& readiness) { poller_.Add(fd, readiness); }
  void Unwatch(int fd, SocketReadiness& readiness) { poller_.Remove(fd, readiness); }
  // Waits until a socket or `wakeup_fd` has something, or until `deadline`. Whether `wakeup_fd` has.
  // REQUIRES: it is the same in every call.
  bool Wait(int wakeup_fd, Timestamp deadline);
  // Appends what has happened since the last call: a bounded number of messages of each socket, so that none starves
  // the others.
  void Collect(Timestamp now, std::vector<Event>& events);

 private:
  Timestamp NextDeadline() const;
  // Collects from the connections that this process has opened, as far as there is something to find out of them.
  void CollectOutbound(Timestamp now, std::vector<Event>& events);
  // Notes when the connection wants to be looked at, after something was done to it.
  void NoteLook(ConnectionId id, const OutboundConnection& connection);
  void CollectOutbound(ConnectionId id, OutboundConnection& connection, Timestamp now, std::vector<Event>& events);
  // Answers a request for a ticket to the data port, which it opens for the first one.
  void AnswerAboutTickets(ConnectionId connection, const std::vector<zmq::message_t>& frames,
                          std::vector<Event>& events);
  void CollectFromDataPort(Timestamp now, std::vector<Event>& events);
  // Returns the key with which the opener of an accepted connection has come in.
  absl::string_view KeyOf(ConnectionId connection) const;
  // Tells of those who were not let in.
  void CollectRefused(std::vector<Event>& events);
  void CollectInbound(Timestamp now, std::vector<Event>& events);
  // Reports which accepted connections have ended. REQUIRES: all that came on them has been read.
  void EndInbound(Timestamp now, std::vector<Event>& events);
  void Close(ConnectionId connection, absl::string_view reason, Timestamp now);
  // Reads what had still arrived on a lost connection, and drops it.
  void Lose(ConnectionId id, OutboundConnection& connection, Timestamp now, std::vector<Event>& events);
  void Drop(ConnectionId id, OutboundConnection& connection, Timestamp now, std::vector<Event>& events);
  // Makes an event of a message. Returns false for that of an acceptor that the connection is to be closed: no event.
  bool Decode(ConnectionId connection, ReceivedFrames received, Timestamp now, std::vector<Event>& events);
  // Answers a message that is not for its sender to give, and ends the connection.
  void RefuseAccess(ConnectionId connection, const Message& message, const absl::Status& why, Timestamp now,
                    std::vector<Event>& events);
  // Tells when nobody can connect, or this process has been asked for more connections than it can have.
  void CheckDescriptors(Timestamp now, std::vector<Event>& events);
  // Returns true.
  bool Reject(ConnectionId connection, absl::Status reason, std::vector<Event>& events);
  SendResult Dispatch(ConnectionId connection, std::vector<zmq::message_t>& frames, Timestamp now);

  const SocketLimits limits_;
  const uint16_t data_port_number_;  // 0: any
  SocketPoller poller_;
  Dialler dialler_;
  std::unique_ptr<ConnectionSecurity> security_;  // null: keys are not asked for
  std::unique_ptr<InboundConnections> inbound_;
  std::unique_ptr<DataPort> data_port_;  // null until somebody asks for a ticket
  std::map<ConnectionId, std::unique_ptr<OutboundConnection>> outbound_;
  std::set<ConnectionId> looks_;                           // wanted in the next turn of the loop
  std::map<ConnectionId, Timestamp> retries_;              // of those that want one
  std::set<std::pair<Timestamp, ConnectionId>> by_retry_;  // the same
  std::string bound_address_;
  std::vector<Event> pending_;  // found while sending
  TrafficCounters counters_;
  Timestamp descriptors_at_;          // looked at
  size_t most_told_connections_ = 0;  // more of them than there are descriptors for
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_TRANSPORT_H_
