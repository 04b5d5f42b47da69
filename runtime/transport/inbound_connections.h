// The connections that others open to this process: one ROUTER socket, whose routing ids are turned into ConnectionIds.
// A peer that chose its own routing id is refused: everything from it is rejected. Thread-compatible; used by the
// protocol thread only.
#ifndef BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_
#define BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "runtime/transport/polled_socket.h"
#include "runtime/transport/socket_frames.h"
#include "runtime/transport/socket_limits.h"
#include "runtime/transport/socket_monitor.h"
#include "runtime/transport/socket_poller.h"
#include "zmq.hpp"

namespace banyan {

class InboundConnections {
 public:
  struct Received {
    ConnectionId connection;
    bool refused = false;    // from a peer that chose its routing id
    ReceivedFrames message;  // without the routing id
  };

  // Errors name the address and what is wrong with it. `poller` outlives this.
  static absl::StatusOr<std::unique_ptr<InboundConnections>> Bind(SocketPoller& poller, const std::string& address,
                                                                  const SocketLimits& limits);
  InboundConnections(SocketPoller& poller, std::unique_ptr<PolledSocket> socket, const SocketLimits& limits);

  // With the real port.
  std::string bound_address() const;

  // The next message that waits. Those on connections that were closed are dropped.
  std::optional<Received> Receive();
  // Sees who has gone. Call before reading until Receive gives nothing.
  void Watch();
  // Connections of which Watch has seen the end, to be asked for once Receive gave nothing: then all they sent has been
  // read.
  std::vector<ConnectionId> TakeLost();

  bool Exists(ConnectionId connection) const;
  // kNoRoute for an unknown connection.
  SendResult Send(ConnectionId connection, std::vector<zmq::message_t>& frames);
  // What comes on it from now on is dropped.
  void Close(ConnectionId connection);

 private:
  struct Peer {
    ConnectionId connection;
    bool refused = false;
    bool closed = false;
  };

  Peer& Find(const std::string& route, int fd);
  void Forget(const std::string& route);

  std::unique_ptr<PolledSocket> socket_;
  SocketMonitor monitor_;
  const SocketLimits limits_;
  ConnectionId next_ = kInboundConnection;
  std::map<std::string, Peer> peers_;           // by routing id
  std::map<ConnectionId, std::string> routes_;  // to routing ids
  std::map<int, std::string> routes_by_fd_;     // of connections not known to be gone
  std::set<int> ended_early_;                   // descriptors whose connections ended before a message was read
  std::vector<std::string> gone_;               // routing ids
};

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_INBOUND_CONNECTIONS_H_
